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

    package static let fields: [WireField] = [
        .required("sealed", .boolean, "Whether the vault key is missing."),
        .optional("active_key_id", .text, "The id of the key that seals."),
        .required("wraps", .integer, "Data keys that the active key has wrapped so far."),
        .required("wraps_max", .integer, "How many it may; rotate long before."),
        .required("keys", .list(.object("VaultKey")), "Loaded keys and keys in use, by id."),
        .required("rotation", .object("KeyRotation"), "How far a rotation is."),
    ]
}
