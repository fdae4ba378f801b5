import Lifecycle
import Providers
import Synchronization

/// What fetches a provider's security events, once its secret and its certificates can be read.
final class PendingPoller: Sendable {
    private struct State: Sendable {
        var poller: SecurityEventPoller?
        var problem: String?
        var isShutDown = false
    }

    private let make: @Sendable () throws -> SecurityEventPoller
    private let state = Mutex(State())

    /// - Parameter make: Tries to set it up.
    init(_ make: @escaping @Sendable () throws -> SecurityEventPoller) { self.make = make }

    /// Why it could not be set up when that was tried last; `nil` once it is.
    var problem: String? { state.withLock { $0.problem } }

    /// Sets it up, unless that was done before.
    ///
    /// - Returns: `nil` while it cannot be set up; ``problem`` says why.
    func setUp() -> SecurityEventPoller? {
        state.withLock { state in
            if state.isShutDown { return nil }
            if let poller = state.poller { return poller }
            do {
                state.poller = try make()
                state.problem = nil
            } catch {
                state.problem = "\(error)"
            }
            return state.poller
        }
    }

    func shutdown() async {
        let last = state.withLock { state in
            defer { (state.poller, state.isShutDown) = (nil, true) }
            return state.poller
        }
        await last?.shutdown()
    }
}
