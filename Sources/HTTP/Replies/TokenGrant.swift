package import Encoding
package import Lifecycle

/// A successful answer of a token endpoint (RFC 6749 §5.1).
package struct TokenGrant: Sendable {
    package let accessToken: Secret
    package let refreshToken: Secret?
    package let lifetime: Duration?
    package let idToken: Secret?

    /// Reads the documented members; `nil` without an access token or with a type that is not
    /// Bearer.
    package init?(_ json: JSONValue) {
        guard let accessToken = json["access_token"]?.string, !accessToken.isEmpty else {
            return nil
        }
        if let type = json["token_type"], type.string?.lowercased() != "bearer" { return nil }
        self.accessToken = Secret(accessToken)
        refreshToken = json["refresh_token"]?.string.flatMap { $0.isEmpty ? nil : Secret($0) }
        idToken = json["id_token"]?.string.map { Secret($0) }
        lifetime = json["expires_in"]?.seconds
    }
}
