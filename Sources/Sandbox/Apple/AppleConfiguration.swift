/// How the sandbox plays Apple.
package struct AppleConfiguration: Sendable {
    /// How a second check of one refresh token within a day ends.
    package enum RefreshLimit: String, CaseIterable, Sendable {
        /// It is answered like the first.
        case off
        /// It is answered 429 without `Retry-After`: Apple says «you may get throttled» and no
        /// more.
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

    /// The team of the first client registration (10 characters).
    package var teamID: String
    /// The key id of the first client registration (10 characters).
    package var keyID: String
    /// The clients that are registered at the start.
    package var clientIDs: [String]
    /// Verifies client secrets instead of a key of our own: PEM, private or public.
    package var keyPEM: String?
    /// The once-a-day rule (developer.apple.com, "Verifying a user").
    package var refreshLimit = RefreshLimit.daily
    /// The trap of the wrong field name.
    package var misnamedToken = MisnamedToken.accept
    /// Whether the check of a refresh token answers an id token too; signing it is slow.
    package var returnsIDTokenOnRefresh = true
    /// How long id tokens are good; samples in the wild show 600 s and a day.
    package var idTokenLifetimeSeconds: Int64 = 86_400

    /// Makes a configuration; the defaults are those of the examples in the documentation.
    package init(
        teamID: String = "ABCDE12345",
        keyID: String = "KEY1234567",
        clientIDs: [String] = ["com.example.app"]
    ) {
        self.teamID = teamID
        self.keyID = keyID
        self.clientIDs = clientIDs
    }
}
