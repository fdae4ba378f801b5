import Synchronization

/// Who may copy frames of the WAL into the database, beside or on the writer.
///
/// Before 3.51.3 SQLite can lose frames when a checkpoint begins while a writer begins the WAL anew
/// (sqlite.org/wal.html, "The WAL-Reset Bug"), which it does once all frames are copied. So the
/// copy beside it begins only while none has been since the WAL was emptied, and the writer makes
/// none until it has ended.
final class WALCopies: Sendable {
    private enum State {
        /// Nothing was copied since the WAL was emptied.
        case none
        case underWay
        /// All frames may have been copied.
        case made
    }

    private let state = Mutex(State.none)

    /// - Returns: Whether the frames may be copied beside the writer, until ``end()``.
    func beginBeside() -> Bool {
        state.withLock { state in
            guard state == .none else { return false }
            state = .underWay
            return true
        }
    }

    func end() { state.withLock { $0 = .made } }

    /// - Returns: Whether the writer may copy.
    func beginByWriter() -> Bool {
        state.withLock { state in
            guard state != .underWay else { return false }
            state = .made
            return true
        }
    }

    func noteEmptied() { state.withLock { $0 = .none } }
}
