/// A registered client, for whoever configures an application or a service with it.
package struct SandboxClient: Codable, Equatable, Sendable {
    /// The family.
    package let provider: String
    /// What the provider's `base_url` is.
    package let baseURL: String
    /// The client id.
    package let clientID: String
    /// The client secret; only the sandbox's, never a real one.
    package let clientSecret: String?

    private enum CodingKeys: String, CodingKey {
        case provider
        case baseURL = "base_url"
        case clientID = "client_id"
        case clientSecret = "client_secret"
    }
}
