/// Whether the service answers, and what it refuses for now.
package struct WireServiceHealth: WireObject, Codable, Hashable {
    package var state: WireValue<DaemonState>
    package var version: String
    package var isIntakePaused: Bool
    package var isVaultSealed: Bool

    package init(version: String, isIntakePaused: Bool, isVaultSealed: Bool) {
        state = .known(.running)
        (self.version, self.isIntakePaused) = (version, isIntakePaused)
        self.isVaultSealed = isVaultSealed
    }

    enum CodingKeys: String, CodingKey {
        case state, version
        case isIntakePaused = "intakePaused"
        case isVaultSealed = "vaultSealed"
    }

    package static let fields: [WireField] = [
        .required("state", .choice(of: DaemonState.self), "How far the service is."),
        .required("version", .text, "The version of the service."),
        .required("intake_paused", .boolean, "Whether it refuses new requests."),
        .required("vault_sealed", .boolean, "Whether the vault key is missing."),
    ]
}
