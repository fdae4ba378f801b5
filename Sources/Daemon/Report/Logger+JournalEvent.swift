import Lifecycle
import Logging
import Systemd

extension Logger {
    /// Writes one event of the catalog.
    ///
    /// `facts` are fields of the closed list, never secret; not made below the log level.
    func note(_ event: JournalEvent, _ facts: @autoclosure () -> Metadata = [:]) {
        let level = Level(event.severity)
        guard level >= logLevel else { return }
        var metadata = facts()
        metadata["event"] = "\(event.rawValue)"
        log(level: level, "\(event.name)", metadata: metadata)
    }
}
