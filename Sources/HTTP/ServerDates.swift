package import Lifecycle
import Synchronization

/// Collects how far this machine's clock is from those of the servers that answer.
///
/// In force for the calls of a task and its children.
package final class ServerDates: Sendable {
    @TaskLocal package static var current: ServerDates?

    private let now: @Sendable () -> WallTime
    private let differences = Mutex<[Duration]>([])

    package init(now: @escaping @Sendable () -> WallTime) { self.now = now }

    /// Takes the value of a header `Date` (RFC 9110 §6.6.1).
    func note(_ header: String) {
        guard let date = RetryAfter.date(header[...]) else { return }
        let difference = now().since(date)
        differences.withLock { $0.append(difference) }
    }

    /// This machine's time minus the servers'; the middle one, so that a single wrong server does
    /// not count.
    package var difference: Duration? {
        let sorted = differences.withLock { $0 }.sorted()
        return sorted.isEmpty ? nil : sorted[sorted.count / 2]
    }
}
