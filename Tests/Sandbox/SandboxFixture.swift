import AsyncHTTPClient
import FoundationEssentials
import NIOCore
import NIOHTTP1
import NIOSSL
import Sandbox

/// A running sandbox and a client that trusts its certificate authority.
struct SandboxFixture: Sendable {
    /// What came back from a call.
    struct Answer: Sendable {
        let status: UInt
        let headers: HTTPHeaders
        let body: String

        /// The members of a flat JSON body.
        var json: [String: String] {
            get throws {
                try JSONDecoder().decode([String: Loose].self, from: Data(body.utf8))
                    .mapValues(\.text)
            }
        }
    }

    /// A JSON value, as text; strings in single quotes, what has members as `…`.
    struct Loose: Decodable {
        let text: String

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            do {
                text = "'\(try value.decode(String.self))'"
            } catch {
                do {
                    text = "\(try value.decode(Bool.self))"
                } catch {
                    text = Self.number(value)
                }
            }
        }

        private static func number(_ value: any SingleValueDecodingContainer) -> String {
            do {
                return "\(try value.decode(Int64.self))"
            } catch {
                return "…"
            }
        }
    }

    static let clientID = "com.example.app"
    static let otherClientID = "com.example.web"

    let sandbox: RunningSandbox
    let client: HTTPClient

    static func with(
        _ change: (inout SandboxConfiguration) -> Void = { _ in },
        body: (SandboxFixture) async throws -> Void
    ) async throws {
        var configuration = SandboxConfiguration()
        configuration.apple.clientIDs = [clientID, otherClientID]
        change(&configuration)
        let sandbox = try await SandboxServer.start(configuration: configuration)
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file(sandbox.authorityFile)
        var settings = HTTPClient.Configuration(
            tlsConfiguration: tls,
            redirectConfiguration: .disallow
        )
        settings.timeout.connect = .seconds(120)
        let client = HTTPClient(configuration: settings)
        let fixture = SandboxFixture(sandbox: sandbox, client: client)
        do {
            try await body(fixture)
        } catch {
            try await client.shutdown()
            try await sandbox.shutdown()
            throw error
        }
        try await client.shutdown()
        try await sandbox.shutdown()
    }

    func send(
        _ method: HTTPMethod,
        _ path: String,
        body: String? = nil,
        type: String = "application/x-www-form-urlencoded",
        headers: [String: String] = [:]
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: sandbox.baseURL + path)
        request.method = method
        for (name, value) in headers {
            request.headers.add(name: name, value: value)
        }
        if let body {
            request.headers.add(name: "content-type", value: type)
            request.body = .bytes(Array(body.utf8))
        }
        let response = try await client.execute(request, timeout: .seconds(120))
        let bytes = try await response.body.collect(upTo: 1 << 26)
        return Answer(
            status: response.status.code,
            headers: response.headers,
            body: String(buffer: bytes)
        )
    }

    /// Posts a form with a good client secret.
    func call(
        _ path: String,
        _ fields: [String: String],
        clientID: String = clientID,
        secret: String? = nil
    ) async throws -> Answer {
        var form = fields
        form["client_id"] = clientID
        form["client_secret"] = try secret ?? self.secret(clientID)
        return try await send(.POST, path, body: Self.encoded(form))
    }

    func exchange(
        _ code: String,
        clientID: String = clientID,
        redirectURI: String? = nil
    ) async throws -> Answer {
        var fields = ["grant_type": "authorization_code", "code": code]
        fields["redirect_uri"] = redirectURI
        return try await call("/auth/token", fields, clientID: clientID)
    }

    func refresh(_ token: String, clientID: String = clientID) async throws -> Answer {
        try await call(
            "/auth/token",
            ["grant_type": "refresh_token", "refresh_token": token],
            clientID: clientID
        )
    }

    func revoke(_ token: String, clientID: String = clientID) async throws -> Answer {
        try await call(
            "/auth/revoke",
            ["token": token, "token_type_hint": "refresh_token"],
            clientID: clientID
        )
    }

    func secret(
        _ clientID: String = clientID,
        keyID: String = "KEY1234567",
        changing claims: (inout AppleClientSecret.Claims) -> Void = { _ in }
    ) throws -> String {
        try AppleClientSecret.make(
            clientID: clientID,
            teamID: "ABCDE12345",
            keyID: keyID,
            keyPEM: sandbox.appleKeyPEM,
            changing: claims
        )
    }

    static func encoded(_ form: [String: String]) -> String {
        form.map { name, value in
            let text = value.utf8.map { byte in
                let scalar = Unicode.Scalar(byte)
                let isPlain = scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                return byte < 128 && isPlain
                    ? String(scalar) : (byte < 16 ? "%0" : "%") + String(byte, radix: 16)
            }
            return "\(name)=\(text.joined())"
        }
        .joined(separator: "&")
    }
}
