import Lifecycle
import Logging
import Storage

/// Turns changes of the spool's health into journal entries.
struct SpoolReporter: Sendable {
    let logger: Logger

    func report(_ change: SpoolHealthChange) {
        switch change {
        case .quarantined(let failure):
            logger.note(.spoolQuarantined, ["error": "\(failure.rawValue)"])
        case .unwritable(let failure):
            logger.note(.spoolUnwritable, ["error": "\(failure.rawValue)"])
        case .back, .writable:
            logger.note(.spoolBack)
        case .leftWAL:
            logger.note(.spoolBack, ["detail": "left_wal"])
        case .replaced(let isSameSpool):
            logger.note(.spoolReplaced, ["detail": isSameSpool ? "same_spool" : "other_spool"])
        case .recreatedRows(let count):
            logger.note(.spoolReplaced, ["detail": "recreated_rows", "count": "\(count)"])
        case .foreignObjects(let count):
            logger.note(.spoolForeignObjects, ["count": "\(count)"])
        case .unreadableRows(let count):
            logger.note(.spoolUnreadableRows, ["count": "\(count)"])
        case .enteredWAL:
            logger.note(.spoolInWAL)
        }
    }
}
