import AsyncHTTPClient
import FoundationEssentials
import NIOCore
import NIOHTTP1
import NIOSSL

/// Calls the admin routes of the sandbox of a directory.
struct AdminClient {
    private let directory: String

    init(directory: String) {
        self.directory = directory
    }

    /// Sends the members of `body` as JSON and prints the answer.
    ///
    /// - Parameters:
    ///   - path: The admin route.
    ///   - body: The members.
    /// - Throws: ``AdminClientError`` when no sandbox answers or it refuses.
    func perform(_ path: String, body: AdminBody) async throws {
        try await perform(path, sending: body)
    }

    /// Sends `value` as JSON, or asks with GET when there is none, and prints the answer.
    ///
    /// - Parameters:
    ///   - path: The admin route with its query.
    ///   - value: The body.
    /// - Throws: ``AdminClientError`` when no sandbox answers or it refuses.
    func perform(_ path: String, sending value: (any Encodable)? = nil) async throws {
        let endpoint = try Self.text(ofFile: "\(directory)/endpoint").filter { !$0.isNewline }
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates(
            try NIOSSLCertificate.fromPEMBytes(
                Array(try Self.text(ofFile: "\(directory)/ca.pem").utf8)
            )
        )
        let client = HTTPClient(
            configuration: HTTPClient.Configuration(tlsConfiguration: tls)
        )
        do {
            var request = HTTPClientRequest(url: endpoint + path)
            if let value {
                request.method = .POST
                request.headers.add(name: "content-type", value: "application/json")
                request.body = .bytes(Array(try JSONEncoder().encode(value)))
            }
            // Longer than the slowest command, bulk tokens.
            let response = try await client.execute(request, timeout: .seconds(30))
            // 64 MiB: the answer to the largest bulk order has 25.
            let answer = try await response.body.collect(upTo: 64 << 20)
            let text = String(buffer: answer)
            guard response.status == .ok else {
                throw AdminClientError(place: directory, cause: text)
            }
            Output.line(text.last == "\n" ? String(text.dropLast()) : text)
        } catch {
            try await client.shutdown()
            throw error
        }
        try await client.shutdown()
    }

    /// `text` for a query (RFC 3986 §2.1).
    static func encoded(_ text: String) -> String {
        text.utf8.reduce(into: "") { encoded, byte in
            let scalar = Unicode.Scalar(byte)
            if scalar.isASCII, scalar.properties.isAlphabetic || (48...57).contains(byte) {
                encoded.unicodeScalars.append(scalar)
            } else {
                encoded += (byte < 16 ? "%0" : "%") + String(byte, radix: 16)
            }
        }
    }

    static func text(ofFile path: String) throws -> String {
        do {
            return try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
        } catch {
            throw AdminClientError(place: path, cause: "no such file: is the sandbox running?")
        }
    }
}

/// Why a command did not reach the sandbox, or what the sandbox refused.
struct AdminClientError: Error, CustomStringConvertible {
    let place: String
    let cause: String

    var description: String { "cannot command sandbox at '\(place)': \(cause)" }
}
