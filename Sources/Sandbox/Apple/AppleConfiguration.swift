/// How the sandbox plays Apple; the defaults are those of the examples in the documentation.
package struct AppleConfiguration: Sendable {
    /// How a second check of one refresh token within a day ends.
    package enum RefreshLimit: String, CaseIterable, Sendable {
        case off
        /// 429 without `Retry-After`: Apple says «you may get throttled» and no more
        /// (developer.apple.com, "Verifying a user").
        case daily
    }

    /// What a revoke answers that has no `token`, but has the token in a field named after its
    /// kind.
    package enum MisnamedToken: String, CaseIterable, Sendable {
        /// 200 without effect, as a client library once met it.
        case accept
        /// 400 `invalid_request`, as the documentation lets one expect.
        case refuse
    }

    package var teamID = "ABCDE12345"
    package var keyID = "KEY1234567"
    package var clientIDs: [String]
    /// Verifies client secrets instead of a key of our own: PEM, private or public.
    package var keyPEM: String?
    package var refreshLimit = RefreshLimit.daily
    package var misnamedToken = MisnamedToken.accept
    /// Whether the check of a refresh token answers an id token too; signing it is slow.
    package var returnsIDTokenOnRefresh = true
    /// How long id tokens are good; samples in the wild show 600 s and a day.
    package var idTokenLifetimeSeconds: Int64 = 86_400

    package init(clientIDs: [String] = ["com.example.app"]) { self.clientIDs = clientIDs }
}
