import Synchronization

/// Something made once its files can be read, and kept until the shutdown.
final class Pending<Made: Sendable>: Sendable {
    private enum State {
        case waiting
        case made(Made)
        case shutDown
    }

    private static var shutDownProblem: String { "the service does not use it any more" }

    private let make: @Sendable () async throws -> Made
    private let discard: @Sendable (Made) async -> Void
    private let state = Mutex(State.waiting)

    init(
        discard: @escaping @Sendable (Made) async -> Void,
        make: @escaping @Sendable () async throws -> Made
    ) {
        self.discard = discard
        self.make = make
    }

    /// `nil` until it could be made, and after the shutdown.
    var value: Made? {
        state.withLock { if case .made(let made) = $0 { made } else { nil } }
    }

    /// Returns why it cannot be made; of two tries at once the first result is kept.
    func setUp() async -> String? {
        switch state.withLock({ $0 }) {
        case .made: return nil
        case .shutDown: return Self.shutDownProblem
        case .waiting: break
        }
        let new: Made
        do {
            new = try await make()
        } catch {
            return "\(error)"
        }
        let (isKept, isUsable) = state.withLock { state in
            switch state {
            case .waiting:
                state = .made(new)
                return (true, true)
            case .made: return (false, true)
            case .shutDown: return (false, false)
            }
        }
        if !isKept { await discard(new) }
        return isUsable ? nil : Self.shutDownProblem
    }

    /// Nothing is made any more.
    func shutdown() async {
        let last = state.withLock { state in
            defer { state = .shutDown }
            return state
        }
        if case .made(let made) = last { await discard(made) }
    }
}
