package import Engine
package import HTTP
import Lifecycle

/// What a store is opened with, besides its settings.
package struct StoreEnvironment: Sendable {
    package let target: TargetConfiguration
    package let adapters: AdapterEnvironment
    package let hasher: any KeyedHasher
    /// What other targets do in the same database.
    package let neighbours: SchemaClaims
    package var notes: (any NoteStore)?

    package init(
        target: TargetConfiguration,
        adapters: AdapterEnvironment,
        hasher: any KeyedHasher,
        neighbours: SchemaClaims
    ) {
        self.target = target
        self.adapters = adapters
        self.hasher = hasher
        self.neighbours = neighbours
    }

    var name: TargetName { target.name }
    var owner: RemoteOwner { .target(name) }
    var clock: TargetClock { .system(wall: adapters.now) }

    func line(_ credential: String) throws -> Secret { try adapters.line(credential, of: owner) }
}

/// Why a store cannot be opened, for an operator.
package struct StoreSetupError: Error, Sendable, CustomStringConvertible {
    /// One line.
    package let description: String

    init(_ name: TargetName, _ cause: String) {
        description = "cannot use target '\(name)': \(cause)"
    }

    init(_ description: String) { self.description = description }
}
