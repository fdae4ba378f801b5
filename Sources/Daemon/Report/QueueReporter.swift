import Lifecycle
import Logging
import Storage

/// Turns changes of a queue's health into journal entries.
struct QueueReporter: Sendable {
    let name: String
    let logger: Logger

    func report(_ change: SpoolHealthChange) {
        switch change {
        case .quarantined(let failure):
            logger.note(.queueQuarantined, facts(failure.rawValue))
        case .unwritable(let failure):
            logger.note(.queueUnwritable, facts(failure.rawValue))
        case .back, .writable, .leftWAL:
            logger.note(.queueBack, ["detail": "\(name)"])
        case .replaced(let isSameSpool):
            logger.note(.queueIrregular, facts(isSameSpool ? "older_content" : "other_queue"))
        case .recreatedRows(let count):
            logger.note(.queueIrregular, facts("recreated_rows", count))
        case .foreignObjects(let count):
            logger.note(.queueIrregular, facts("foreign_objects", count))
        case .unreadableRows(let count):
            logger.note(.queueIrregular, facts("unreadable_rows", count))
        case .enteredWAL:
            // Only a file has a WAL.
            break
        }
    }

    private func facts(_ code: String, _ count: Int? = nil) -> Logger.Metadata {
        var facts: Logger.Metadata = ["detail": "\(name)", "error": "\(code)"]
        if let count { facts["count"] = "\(count)" }
        return facts
    }
}
