/// What an application holds after a user signed in.
package struct SandboxSignIn: Codable, Sendable {
    /// The authorization code, where the provider gives one.
    package let code: String?
    /// What the exchange must bring, when the sandbox made the challenge.
    package let codeVerifier: String?
    /// The id token, where the provider has them.
    package let idToken: String?
    /// The provider's identifier of the user.
    package let subject: String
    /// The nonce as the application sent it.
    package let rawNonce: String

    private enum CodingKeys: String, CodingKey {
        case code
        case codeVerifier = "code_verifier"
        case idToken = "id_token"
        case subject
        case rawNonce = "raw_nonce"
    }
}
