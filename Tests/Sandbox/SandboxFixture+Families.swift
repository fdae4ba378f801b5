import FoundationEssentials
import NIOHTTP1
import TestSupport
import Testing

@testable import Sandbox

extension SandboxFixture.Answer {
    /// A member of a flat JSON body without its quotes.
    func text(_ name: String) throws -> String {
        let value = try #require(try json[name])
        return value.hasPrefix("'") ? String(value.dropFirst().dropLast()) : value
    }

    /// The status and the `error` of a flat JSON body.
    var verdict: String {
        get throws {
            body.isEmpty ? "\(status)" : "\(status) \(try json["error"] ?? "-")"
        }
    }
}

extension SandboxFixture {
    /// Posts a form.
    func post(
        _ path: String,
        _ fields: [String: String],
        headers: [String: String] = [:]
    ) async throws -> Answer {
        try await send(.POST, path, body: Self.encoded(fields), headers: headers)
    }

    static func basic(_ name: String, _ password: String) -> [String: String] {
        let text = Data("\(name):\(password)".utf8).base64EncodedString()
        return ["authorization": "Basic \(text)"]
    }

    /// The claims of a JWT whose signature is checked against the keys at `path`.
    func claims<Claims: Decodable>(
        _ text: String,
        _ type: Claims.Type,
        keysAt path: String
    ) async throws -> Claims {
        let token = try #require(JSONWebToken(text))
        let keys = try JSONDecoder().decode(
            Keys.self,
            from: Data(try await send(.GET, path).body.utf8)
        )
        #expect(keys.keys.count >= 2)
        #expect(keys.keys.contains { $0.kid == token.header.kid })
        return try #require(token.claims(type))
    }

    /// The states of the grants at a provider, by user.
    func states(_ provider: SandboxProvider) throws -> [String: SandboxGrant.State] {
        sandbox.grants(at: provider).reduce(into: [:]) { $0[$1.user] = $1.state }
    }
}

/// A published set of keys, as far as the tests look.
private struct Keys: Decodable {
    struct Key: Decodable {
        let kid: String
    }

    let keys: [Key]
}

/// The claims that id tokens have everywhere.
struct IDClaims: Decodable {
    let iss: String
    let aud: String
    let sub: String
    let nonce: String?
    let iat: Int64
    let exp: Int64
}
