/// What only `kind = "apple"` has.
package struct AppleProviderConfiguration: Hashable, Sendable {
    /// Apple's host ("Sign in with Apple REST API").
    package static let defaultBaseURL = "https://appleid.apple.com"

    package let teamID: String
    package let keyID: String
    package let privateKeyCredential: String
    /// Scheme, host and port, without a slash at the end.
    package let baseURL: String
}
