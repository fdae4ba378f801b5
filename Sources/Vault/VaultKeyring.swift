/// The vault keys that are loaded: one that wraps, and retired ones that only unwrap.
package struct VaultKeyring: Sendable {
    package let active: VaultKey
    private let keys: [String: VaultKey]

    /// Retired keys are kept until everything they wrapped is wrapped anew.
    package init(active: VaultKey, retired: [VaultKey] = []) {
        self.active = active
        keys = Dictionary((retired + [active]).map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    }

    /// The ids of all keys, sorted.
    package var ids: [String] { keys.keys.sorted() }

    package func key(id: String) -> VaultKey? { keys[id] }
}
