package import Engine
package import HTTP
package import Lifecycle

/// What the operator configures for an application registered with Microsoft Entra.
package struct MicrosoftSettings: Sendable {
    /// How the application proves itself.
    package enum ClientProof: Sendable {
        case secret(Secret)
        /// A certificate: the SHA-256 of its DER form and its private key, for PS256.
        case certificate(thumbprint: [UInt8], signer: any MessageSigner)
    }

    /// Hosts of the global cloud.
    package static let loginURL = "https://login.microsoftonline.com"
    package static let graphURL = "https://graph.microsoft.com"

    package var http: RemoteSettings
    package let clientID: String
    /// `common`, `organizations`, `consumers`, a GUID or a domain.
    package let tenant: String
    package let proof: ClientProof
    /// GUIDs of the tenants whose administrators let the application delete grants.
    package var graphTenants: [String] = []
    /// Also end all sessions of the user, in every application.
    package var revokesSessions = false
    package var loginBaseURL = MicrosoftSettings.loginURL
    package var graphBaseURL = MicrosoftSettings.graphURL
}
