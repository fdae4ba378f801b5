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

    package static let fields: [WireField] = [
        .required("id", .text, "The key's id, as --generate-vault-key printed it."),
        .required("state", .choice(of: VaultKeyState.self), "What it is for."),
        .required("users", .integer, "Users' data keys and cases that need it; at 0 nothing does."),
    ]
}
