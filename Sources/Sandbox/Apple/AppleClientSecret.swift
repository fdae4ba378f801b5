/// Makes client secrets, for tests and for demonstrations in a shell.
package enum AppleClientSecret {
    /// The claims of a client secret; times in Unix seconds.
    package struct Claims: Codable, Sendable {
        package var iss: String
        package var sub: String
        package var aud: String
        package var iat: Double
        package var exp: Double
    }

    static let audience = "https://appleid.apple.com"

    /// Signs a client secret as an application's server would (Apple, "Creating a client secret").
    ///
    /// - Parameters:
    ///   - clientID: The client that the call is made for.
    ///   - teamID: The team of the client.
    ///   - keyID: The `kid` that the key is registered under.
    ///   - keyPEM: The private key, as in Apple's .p8 files.
    ///   - claims: Lets a test replace claims.
    /// - Returns: The JWT.
    /// - Throws: ``SandboxError`` when the key cannot be used.
    package static func make(
        clientID: String,
        teamID: String,
        keyID: String,
        keyPEM: String,
        changing claims: (inout Claims) -> Void = { _ in }
    ) throws -> String {
        let now = Double(SandboxClock.wallMilliseconds() / 1000)
        // Back-dated for clocks that differ, and short-lived.
        var content = Claims(
            iss: teamID,
            sub: clientID,
            aud: audience,
            iat: now - 5,
            exp: now + 300
        )
        claims(&content)
        return try JSONWebToken.signed(
            content,
            algorithm: "ES256",
            kid: keyID,
            key: try CryptoKey(p256PEM: keyPEM)
        )
    }
}
