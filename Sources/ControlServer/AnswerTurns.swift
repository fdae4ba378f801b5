import Synchronization

/// Limits how many costly answers exist at a time on one socket, for each uid and for all: the uid
/// that asks for many waits, and not the others.
final class AnswerTurns: Sendable {
    /// The right to one answer, which ends with the last reference to it.
    final class Turn: Sendable {
        private let end: @Sendable () -> Void

        fileprivate init(_ end: @escaping @Sendable () -> Void) { self.end = end }

        deinit { end() }
    }

    private struct Waiter {
        let number: UInt64
        let uid: UInt32
        let sender: AsyncStream<Turn>.Continuation
    }

    private struct State {
        var countByUID: [UInt32: Int] = [:]
        /// In the order of their coming; one per connection at most.
        var waiters: [Waiter] = []
        var lastNumber: UInt64 = 0
    }

    private static let root: UInt32 = 0

    private let perUIDMax: Int
    private let max: Int
    private let state = Mutex(State())

    /// `max` counts the turns of all uids but root.
    init(perUIDMax: Int, max: Int) {
        (self.perUIDMax, self.max) = (perUIDMax, max)
    }

    /// Waits for a turn; `nil` once the task is cancelled.
    func wait(uid: UInt32) async -> Turn? {
        let (turns, sender) = AsyncStream.makeStream(of: Turn.self)
        let number = state.withLock { state -> UInt64? in
            guard !begin(uid, &state) else { return nil }
            state.lastNumber += 1
            state.waiters.append(Waiter(number: state.lastNumber, uid: uid, sender: sender))
            return state.lastNumber
        }
        guard let number else { return turn(of: uid) }
        var given: Turn?
        for await turn in turns {
            given = turn
            break
        }
        // What is left of it goes outside of the lock: a turn that came too late ends with it.
        let left = state.withLock { state in
            state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
        }
        withExtendedLifetime(left) {}
        return given
    }

    func take(uid: UInt32) -> Turn? {
        let isFree = state.withLock { begin(uid, &$0) }
        return isFree ? turn(of: uid) : nil
    }

    private func turn(of uid: UInt32) -> Turn { Turn { [self] in end(uid) } }

    private func begin(_ uid: UInt32, _ state: inout State) -> Bool {
        let own = state.countByUID[uid, default: 0]
        let others = state.countByUID.reduce(0) { $0 + ($1.key == Self.root ? 0 : $1.value) }
        guard own < perUIDMax, uid == Self.root || others < max else { return false }
        state.countByUID[uid] = own + 1
        return true
    }

    private func end(_ uid: UInt32) {
        let next = state.withLock { state -> Waiter? in
            let count = state.countByUID[uid, default: 1] - 1
            state.countByUID[uid] = count == 0 ? nil : count
            for place in state.waiters.indices {
                let uid = state.waiters[place].uid
                if begin(uid, &state) { return state.waiters.remove(at: place) }
            }
            return nil
        }
        if let next { next.sender.yield(turn(of: next.uid)) }
    }
}
