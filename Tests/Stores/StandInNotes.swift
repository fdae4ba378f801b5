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

    func lowerNote(_ name: String, to count: Int) async throws {
        notes.withLock { notes in
            let old = notes[name].flatMap { Int($0) }
            notes[name] = "\(min(count, old ?? count))"
        }
    }
}
