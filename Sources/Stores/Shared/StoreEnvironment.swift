package import Engine
package import HTTP
package import Lifecycle

/// What a store is opened with, besides its settings.
package struct StoreEnvironment: Sendable {
    package let store: StoreConfiguration
    package let adapters: AdapterEnvironment
    package let hasher: any KeyedHasher
    /// What other stores do in the same database.
    package let neighbours: SchemaClaims
    package var notes: (any NoteStore)?

    package init(
        store: StoreConfiguration,
        adapters: AdapterEnvironment,
        hasher: any KeyedHasher,
        neighbours: SchemaClaims
    ) {
        self.store = store
        self.adapters = adapters
        self.hasher = hasher
        self.neighbours = neighbours
    }

    var name: StoreName { store.name }
    var owner: RemoteOwner { .store(name) }
    var clock: StoreClock { .system(wall: adapters.now) }

    func line(_ credential: String) throws -> Secret { try adapters.line(credential, of: owner) }
}

/// Why a store cannot be opened, for an operator.
package struct StoreSetupError: Error, Sendable, CustomStringConvertible {
    /// One line.
    package let description: String

    init(_ name: StoreName, _ cause: String) {
        description = "cannot use store '\(name)': \(cause)"
    }

    init(_ description: String) { self.description = description }
}

/// Time and randomness of a store, injected so that tests own them.
package struct StoreClock: Sendable {
    /// Civil time: decides whether a row's creation time can be believed.
    package let wall: @Sendable () -> WallTime
    /// Monotonic time since any fixed point: bounds transactions.
    package let uptime: @Sendable () -> Duration
    /// Lets other writers in between two transactions.
    package let rest: Sleep
    /// 64 random bits for the `random` mask.
    package let entropy: @Sendable () -> UInt64

    /// The machine's clocks; civil time is the caller's, as everywhere in the service.
    package static func system(wall: @escaping @Sendable () -> WallTime) -> StoreClock {
        StoreClock(
            wall: wall,
            uptime: { BootClock.now },
            rest: BootClock.sleeping,
            entropy: {
                var generator = SystemRandomNumberGenerator()
                return generator.next()
            }
        )
    }
}
