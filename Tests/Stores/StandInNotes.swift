import Engine
import Synchronization

/// Notes that last as long as a test.
final class StandInNotes: NoteStore {
    private let notes = Mutex<[String: String]>([:])

    func note(_ name: String) async throws -> String? { notes.withLock { $0[name] } }

    func setNote(_ name: String, to value: String) async throws {
        notes.withLock { $0[name] = value }
    }
}
