import Synchronization

/// The adapters in force; a reload swaps them as a whole.
final class AdapterRegistry: Sendable {
    private struct State {
        var adapters: Adapters
        var replacedCount = 0
    }

    private let state: Mutex<State>
    /// What is read only at start is from here until a restart.
    let started: DaemonConfiguration
    /// Taken to change what is in force, or what receipts say of it.
    let turns = AsyncLock()

    init(_ adapters: Adapters) {
        state = Mutex(State(adapters: adapters))
        started = adapters.configuration
    }

    var current: Adapters { state.withLock { $0.adapters } }

    /// Findings about adapters count while this is the same.
    var replacedCount: Int { state.withLock { $0.replacedCount } }

    /// Returns the old ones, to be shut down once nothing uses them.
    func replace(with new: Adapters) -> Adapters {
        state.withLock { state in
            defer {
                state.adapters = new
                state.replacedCount += 1
            }
            return state.adapters
        }
    }
}
