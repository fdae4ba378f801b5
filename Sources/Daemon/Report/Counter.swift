import Synchronization

/// Counts since the start, by key.
final class Counter<Key: Hashable & Sendable>: Sendable {
    private let state = Mutex<[Key: Int]>([:])

    var counts: [Key: Int] { state.withLock { $0 } }

    func count(_ key: Key) { state.withLock { $0[key, default: 0] += 1 } }
}
