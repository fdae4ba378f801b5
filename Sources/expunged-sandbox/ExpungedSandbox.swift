import ArgumentParser
import AsyncHTTPClient
import Encoding
import FoundationEssentials
import Glibc
import NIOCore
import NIOHTTP1
import NIOSSL
import Sandbox

/// The provider sandbox: identity providers that follow their vendors' documentation, with traps.
@main
struct ExpungedSandbox: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "expunged-sandbox",
        abstract: "Stand-ins for identity providers, to test a deletion flow against.",
        discussion: """
            Start one with 'serve'. The other commands talk to the sandbox of a directory and \
            print JSON; they are about Apple unless --provider names another. The sandbox \
            listens at 127.0.0.1 only and holds no real account.
            """,
        subcommands: [
            ServeCommand.self, ClientsCommand.self, SignInCommand.self, TokensCommand.self,
            WithdrawCommand.self,
            GrantsCommand.self, LogCommand.self, FaultCommand.self, ClockCommand.self,
            RotateKeysCommand.self, RegisterClientCommand.self, ClientSecretCommand.self,
            CloudCommand.self, ServiceAccountCommand.self,
        ]
    )
}

/// Standard output, unbuffered: a script that waits for the ready line must get it.
enum Output {
    static func line(_ text: String) {
        FileBytes.write(Array("\(text)\n".utf8), to: STDOUT_FILENO)
    }
}

extension SandboxLocation {
    /// Commands the provider with `value` as JSON, or asks with GET when there is none, and returns
    /// the answer.
    ///
    /// - Throws: ``SandboxCallError`` when no sandbox answers or it refuses.
    func answer(_ path: String, sending value: (any Encodable)? = nil) async throws -> String {
        let remedy = "; start expunged-sandbox.service, or name another --directory"
        let endpoint = try Self.text(ofFile: "\(directory)/endpoint", remedy: remedy)
            .filter { !$0.isNewline }
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file("\(directory)/ca.pem")
        let client = HTTPClient(configuration: HTTPClient.Configuration(tlsConfiguration: tls))
        do {
            let query = value == nil ? "" : "?provider=\(provider.rawValue)"
            var request = HTTPClientRequest(url: endpoint + path + query)
            if let value {
                request.method = .POST
                request.headers.add(name: "content-type", value: "application/json")
                request.body = .bytes(try TypedJSON.bytes(value, .snakeCase))
            }
            // Longer than the slowest command, bulk tokens.
            let response = try await client.execute(request, timeout: .seconds(30))
            // 64 MiB: the answer to the largest bulk order has 25.
            let answer = try await response.body.collect(upTo: 64 << 20)
            let text = String(buffer: answer)
            guard response.status == .ok else {
                throw SandboxCallError(place: directory, cause: text)
            }
            try await client.shutdown()
            return text.last == "\n" ? String(text.dropLast()) : text
        } catch {
            try await client.shutdown()
            throw error
        }
    }

    static func text(ofFile path: String, remedy: String = "") throws -> String {
        do {
            return try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
        } catch {
            throw SandboxCallError(place: path, cause: "no such file\(remedy)")
        }
    }
}

/// Why a command did not reach the sandbox, or what the sandbox refused.
struct SandboxCallError: Error, CustomStringConvertible {
    let place: String
    let cause: String

    var description: String { "cannot command sandbox at '\(place)': \(cause)" }
}
