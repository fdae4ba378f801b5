/// What only `kind = "microsoft"` has.
package struct MicrosoftProviderConfiguration: Hashable, Sendable {
    /// How the application proves itself.
    package enum Proof: Hashable, Sendable {
        case secret(credential: String)
        /// - sha256: The certificate's fingerprint, 64 hexadecimal digits.
        case certificate(keyCredential: String, sha256: String)

        /// The credential, and the key that names it.
        var credential: (name: String, key: String) {
            switch self {
            case .secret(let name): (name, "client_secret_credential")
            case .certificate(let name, _): (name, "private_key_credential")
            }
        }
    }

    /// The sign-in host of the global cloud.
    package static let defaultBaseURL = "https://login.microsoftonline.com"
    /// Microsoft Graph of the global cloud.
    package static let defaultGraphURL = "https://graph.microsoft.com"

    package let tenant: String
    package let proof: Proof
    /// Tenants that let the application delete grants.
    package let graphTenants: [String]
    package let revokesSessions: Bool
    package let baseURL: String
    package let graphURL: String
}
