import Encoding
import Foundation
import Glibc
import HTTP
import Lifecycle
import Logging
import NIOPosix

@testable import Stores

/// The receiver of Tests/Shared/webhook_receiver.py on the loopback interface; ends with the test.
final class WebhookServer: Sendable {
    /// 32 bytes in base64.
    static let secret = "Y2FuYXJ5LXdlYmhvb2stNWYxZTAwMTEyMjMzNDQ1NTY="

    private let folder: String
    let port: Int
    private let process: Process
    private let input = Pipe()

    private static let script = """
        set -eu
        cd "$1"
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \\
            -subj /CN=localhost -addext subjectAltName=DNS:localhost \\
            -keyout key.pem -out cert.pem >log 2>&1
        python3 "$2" cert.pem key.pem "$3"
        cd / && rm -rf -- "$1"
        """

    init() throws {
        folder = "/tmp/expunged-webhook-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let shared = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Shared/webhook_receiver.py").standardized.path
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", Self.script, "receiver", folder, shared, Self.secret]
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let said = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(said.prefix { $0 != "\n" }) else { throw ServerFailure(text: said) }
        self.port = port
    }

    /// What the receiver has left and what came in.
    func state() throws -> JSONValue { try curl([]) }

    /// All rows that it has, by user.
    func setRows(_ rows: [JSONValue.Member]) throws {
        _ = try curl(["-X", "PUT", "--data-binary", JSONValue.object(rows).compactText])
    }

    private func curl(_ options: [String]) throws -> JSONValue {
        let client = Process()
        client.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
        client.arguments =
            ["-sS", "--cacert", folder + "/cert.pem"] + options + ["https://localhost:\(port)/"]
        let output = Pipe()
        client.standardOutput = output
        let data = try client.runToEnd(reading: output)
        guard let state = JSONValue(Array(data)) else { throw ServerFailure(text: "no state") }
        return state
    }

    /// Runs `body` with a store that posts to a path of the receiver.
    func with<Result>(
        _ path: String = "",
        secret: String = WebhookServer.secret,
        allowsPrivate: Bool = true,
        timeout: Duration = .seconds(120),
        trusts: Bool = true,
        body: (DelegatedStore) async throws -> Result
    ) async throws -> Result {
        guard let signature = WebhookSignature(Secret(secret)) else {
            throw ServerFailure(text: "no secret")
        }
        var settings = RemoteSettings(
            owner: .store(StoreName("crm")),
            caFile: trusts ? folder + "/cert.pem" : nil
        )
        settings.allowsPrivateAddresses = allowsPrivate
        settings.timeoutConnect = .seconds(120)
        settings.timeoutTotal = timeout
        let store = DelegatedStore(
            name: StoreName("crm"),
            delegate: try WebhookDelegate(
                url: "https://localhost:\(port)/\(path)",
                settings,
                signature: signature,
                on: MultiThreadedEventLoopGroup.singleton,
                now: { present },
                logger: Logger(label: "test")
            ),
            clock: GoogleBench.clock()
        )
        do {
            let result = try await body(store)
            await store.shutdown()
            return result
        } catch {
            await store.shutdown()
            throw error
        }
    }
}
