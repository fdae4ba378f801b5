import Synchronization

@testable import Storage

/// Ends connections where a test wants it.
final class StatementFaults: Sendable {
    private let state = Mutex((before: String?.none, after: String?.none, isDown: false))

    /// Ends the connection that sends a statement which begins so, before or after it has left.
    func end(before text: String) { state.withLock { $0.before = text } }
    func end(after text: String) { state.withLock { $0.after = text } }

    /// No connection can be made meanwhile.
    func isDown(_ isDown: Bool) { state.withLock { $0.isDown = isDown } }

    var hooks: PostgreSQLFaults {
        PostgreSQLFaults(
            before: { sql in self.take(sql, \.before) },
            after: { sql in self.take(sql, \.after) },
            connecting: { self.state.withLock { $0.isDown } }
        )
    }

    private func take(
        _ sql: String,
        _ path: WritableKeyPath<(before: String?, after: String?, isDown: Bool), String?>
    ) -> Bool {
        state.withLock { state in
            guard let text = state[keyPath: path], sql.hasPrefix(text) else { return false }
            state[keyPath: path] = nil
            return true
        }
    }
}
