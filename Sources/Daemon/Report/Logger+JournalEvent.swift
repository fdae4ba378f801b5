import Lifecycle
import Logging

extension Logger {
    /// Writes one event of the catalog, with facts as metadata.
    ///
    /// - Parameters:
    ///   - event: Decides message, severity and message id.
    ///   - facts: Names of the closed list of journal fields; never a secret or a personal datum.
    func note(_ event: JournalEvent, _ facts: Metadata = [:]) {
        let level: Level =
            switch event.severity {
            case .info: .info
            case .notice: .notice
            case .warning: .warning
            case .error: .error
            case .critical: .critical
            }
        var metadata = facts
        metadata["event"] = "\(event.rawValue)"
        log(level: level, "\(event.message)", metadata: metadata)
    }
}
