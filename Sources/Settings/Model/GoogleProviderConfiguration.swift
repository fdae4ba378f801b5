/// What only `kind = "google"` has.
package struct GoogleProviderConfiguration: Hashable, Sendable {
    package let secrets: ClientSecrets
    /// One host for all endpoints instead of Google's: for a stand-in.
    package let baseURL: String?
    package let nonce: NonceForm
}
