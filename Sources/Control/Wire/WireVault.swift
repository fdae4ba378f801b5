package import Lifecycle

/// The vault: its keys, and how far a rotation is.
package struct WireVault: WireObject, Codable, Hashable {
    package var isSealed: Bool
    package var activeKeyID: String?
    package var wraps = 0
    package var wrapsMax = 0
    package var keys: [WireVaultKey] = []
    package var rotation: WireKeyRotation

    package init(isSealed: Bool, activeKeyID: String?, rotation: WireKeyRotation) {
        (self.isSealed, self.activeKeyID, self.rotation) = (isSealed, activeKeyID, rotation)
    }

    enum CodingKeys: String, CodingKey {
        case wraps, keys, rotation, activeKeyID, wrapsMax
        case isSealed = "sealed"
    }

    package static let members: [WireMember<WireVault>] = [
        .field("sealed", \.isSealed, "Whether the vault key is missing."),
        .field("active_key_id", \.activeKeyID, "The id of the key that seals."),
        .field("wraps", \.wraps, "Data keys that the active key has wrapped so far."),
        .field("wraps_max", \.wrapsMax, "How many it may; rotate long before."),
        .field("keys", \.keys, "Loaded keys and keys in use, by id."),
        .field("rotation", \.rotation, "How far a rotation is."),
    ]
}

/// What a vault key is for.
package enum VaultKeyState: String, Sendable, CaseIterable {
    /// Wraps all new data keys.
    case active
    /// Loaded, opens what it wrapped.
    case retired
    /// Not loaded, but users' data keys or cases need it.
    case missing
}

/// One vault key and how much depends on it.
package struct WireVaultKey: WireObject, Codable, Hashable {
    package var id: String
    package var state: WireValue<VaultKeyState>
    /// A retired key without users may be taken out of the configuration.
    package var users: Int

    package init(id: String, state: VaultKeyState, users: Int) {
        (self.id, self.state, self.users) = (id, .known(state), users)
    }

    package static let members: [WireMember<WireVaultKey>] = [
        .field("id", \.id, "The key's id, as --generate-vault-key printed it."),
        .field("state", \.state, "What it is for."),
        .field("users", \.users, "Users' data keys and cases that need it; at 0 nothing does."),
    ]
}

/// A rotation of the vault key: every user's data key is wrapped anew.
package struct WireKeyRotation: WireObject, Codable, Hashable {
    package var state: WireValue<KeyRotationState>
    package var rewrapped = 0
    package var unreadable = 0
    package var startedAt: WallTime?
    package var endedAt: WallTime?
    package var error: String?

    package init(state: KeyRotationState) { self.state = .known(state) }

    package static let members: [WireMember<WireKeyRotation>] = [
        .field("state", \.state, "How far it is."),
        .field("rewrapped", \.rewrapped, "Data keys wrapped since it started or resumed."),
        .field("unreadable", \.unreadable, "Damaged data keys; they stay as they are."),
        .field("started_at", \.startedAt, "When it started, or went on after a restart."),
        .field("ended_at", \.endedAt, "When it ended."),
        .field("error", \.error, "A code: why it stopped."),
    ]
}
