import Engine
import Synchronization

/// Notes that last as long as a test.
final class StandInNotes: NoteStore {
    private struct Unreadable: Error {}

    let isUnreadable = Atomic(false)
    private let notes = Mutex<[String: String]>([:])

    var names: [String] { notes.withLock { $0.keys.sorted() } }

    func note(_ name: String) async throws -> String? {
        guard !isUnreadable.load(ordering: .relaxed) else { throw Unreadable() }
        return notes.withLock { $0[name] }
    }

    func setNote(_ name: String, to value: String) async throws {
        notes.withLock { $0[name] = value }
    }
}
