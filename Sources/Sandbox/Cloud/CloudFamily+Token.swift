import Encoding
import Synchronization

/// The tokens of a service account.
extension CloudFamily {
    /// Google's tokens live for an hour, less a second.
    static let tokenLifetimeSeconds: Int64 = 3599
    /// The longest span from `iat` to `exp`.
    static let assertionLifetimeMaxSeconds: Double = 3600
    /// A clock that is further ahead is refused.
    static let clockLeadSeconds: Double = 60

    var tokenURL: String { "\(tools.address.baseURL)/\(name)/token" }

    /// The key file of the service account, as the console hands it out.
    func keyFile() throws(SandboxError) -> String {
        let file: JSONValue = [
            "type": "service_account", "project_id": .string(configuration.project),
            "private_key_id": "sandbox-key",
            "private_key": .string(try keys.newest().privatePEM()),
            "client_email": .string(configuration.clientEmail), "token_uri": .string(tokenURL),
        ]
        return file.compactText
    }

    /// Errors of the token endpoint are RFC 6749's, not those of the interfaces.
    func answerToken(_ call: Call) throws(Refusal) -> Reply {
        let form = call.form
        guard form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer" else {
            return Self.refused("unsupported_grant_type")
        }
        guard let token = form["assertion"].flatMap({ JSONWebToken($0) }), isSigned(token),
            let claims = JSONValue(token.payload), let issued = claims["iat"]?.number,
            let end = claims["exp"]?.number, let scope = claims["scope"]?.string,
            claims["iss"]?.string == configuration.clientEmail,
            claims["aud"]?.string == tokenURL
        else { return Self.refused("invalid_grant") }
        let now = Double(nowSeconds)
        guard issued <= now + Self.clockLeadSeconds, end > now,
            end - issued <= Self.assertionLifetimeMaxSeconds
        else { return Self.refused("invalid_grant") }
        guard !scope.isEmpty else { return Self.refused("invalid_scope") }
        let access = "ya29." + TokenGenerator.text()
        let accessEnd = nowSeconds + Self.tokenLifetimeSeconds
        state.withLock { $0.tokens[TokenDigest(access)] = accessEnd }
        return .json([
            "access_token": .string(access), "expires_in": .integer(Self.tokenLifetimeSeconds),
            "token_type": "Bearer",
        ])
    }

    /// An interface wants a token of ours, or the emulators' word.
    func authenticate(_ call: Call) throws(Refusal) {
        guard let bearer = call.bearer else {
            throw Refusal(403, "The request is missing a valid API key.", word: "PERMISSION_DENIED")
        }
        if bearer == "owner" { return }
        let end = state.withLock { $0.tokens[TokenDigest(bearer)] }
        guard let end, end > nowSeconds else {
            throw Refusal(401, "Invalid authentication credentials.", word: "UNAUTHENTICATED")
        }
    }

    private func isSigned(_ token: JSONWebToken) -> Bool {
        do {
            let key = try keys.newest()
            return token.header.alg == "RS256" && token.isSigned(by: key)
        } catch {
            return false
        }
    }

    private static func refused(_ word: String) -> Reply {
        .json(["error": .string(word), "error_description": "Invalid JWT"], status: 400)
    }
}
