import Synchronization

/// The adapters in force; a reload swaps them as a whole.
final class AdapterShelf: Sendable {
    private let adapters: Mutex<Adapters>

    init(_ adapters: Adapters) {
        self.adapters = Mutex(adapters)
    }

    /// What is in force right now.
    var current: Adapters { adapters.withLock { $0 } }

    /// Puts new adapters into force.
    ///
    /// - Returns: The old ones, to be shut down once nothing uses them.
    func replace(with new: Adapters) -> Adapters {
        adapters.withLock { current in
            defer { current = new }
            return current
        }
    }
}
