import Lifecycle
import Logging

extension Logger {
    /// Writes one event of the catalog, with facts as metadata.
    ///
    /// - Parameters:
    ///   - event: Decides message, severity and message id.
    ///   - facts: Names of the closed list of journal fields; never a secret or a personal datum.
    ///     Not made for a level that nobody reads: an event of every request costs nothing then.
    func note(_ event: JournalEvent, _ facts: @autoclosure () -> Metadata = [:]) {
        let level: Level =
            switch event.severity {
            case .info: .info
            case .notice: .notice
            case .warning: .warning
            case .error: .error
            case .critical: .critical
            }
        guard level >= logLevel else { return }
        var metadata = facts()
        metadata["event"] = "\(event.rawValue)"
        log(level: level, "\(event.message)", metadata: metadata)
    }
}
