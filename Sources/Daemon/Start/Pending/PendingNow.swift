import Providers
import Synchronization

/// Something made without waiting once its files can be read, and kept until the shutdown.
final class PendingNow<Made: Sendable>: Sendable {
    private struct State: Sendable {
        var made: Made?
        var problem: String?
        var isShutDown = false
    }

    private let make: @Sendable () throws -> Made?
    private let state = Mutex(State())

    init(_ make: @escaping @Sendable () throws -> Made?) { self.make = make }

    /// Of the last try; `nil` once it is made.
    var problem: String? { state.withLock { $0.problem } }

    /// `nil` while it cannot be made; ``problem`` says why.
    func setUp() -> Made? {
        state.withLock { state in
            guard !state.isShutDown, state.made == nil else { return state.made }
            do {
                state.made = try make()
                state.problem = nil
            } catch {
                state.problem = "\(error)"
            }
            return state.made
        }
    }

    /// Returns what is to be shut down; nothing is made any more.
    func end() -> Made? {
        state.withLock { state in
            defer { (state.made, state.isShutDown) = (nil, true) }
            return state.made
        }
    }
}

/// What fetches a provider's security events, once its secret and its certificates can be read.
typealias PendingPoller = PendingNow<SecurityEventPoller>

extension PendingPoller {
    func shutdown() async { await end()?.shutdown() }
}
