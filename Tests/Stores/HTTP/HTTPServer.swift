import Encoding
import Engine
import Foundation
import Glibc
import HTTP
import Lifecycle
import Logging
import NIOPosix
import Settings
import Synchronization
import Testing

@testable import Stores

/// The stand-ins of Tests/HTTPVendors on the loopback interface; ends with this process.
final class HTTPServer: Sendable {
    static let secret = "canary-http-9c1d"
    static let now = WallTime(unixMilliseconds: 1_800_000_000_000)

    let folder: String
    let port: Int
    private let process: Process
    private let input = Pipe()

    private static let script = """
        set -eu
        cd "$1"
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \\
            -subj /CN=localhost -addext subjectAltName=DNS:localhost \\
            -keyout key.pem -out cert.pem >log 2>&1
        python3 -B "$2" cert.pem key.pem
        cd / && rm -rf -- "$1"
        """

    init() throws {
        folder = "/tmp/expunged-http-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../HTTPVendors/serve.py").standardized.path
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", Self.script, "vendors", folder, program]
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let said = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(said.prefix { $0 != "\n" }) else { throw ServerFailure(text: said) }
        self.port = port
    }

    /// What a vendor has of the victim, a digest of all else, and the calls since the last reset.
    struct State: Equatable {
        let left: Int
        let others: String
        let calls: [String]
    }

    func state(_ vendor: String) throws -> State {
        try Self.state(curl("_state/\(vendor)", nil))
    }

    private static func state(_ bytes: [UInt8]) throws -> State {
        let json = try #require(JSONValue(bytes))
        return State(
            left: Int(try #require(json["victim"]?.number)),
            others: try #require(json["others"]?.string),
            calls: try #require(json["calls"]?.array).compactMap(\.string)
        )
    }

    /// Begins anew, without faults; what the vendor has then.
    @discardableResult
    func reset(_ vendor: String, user: String = "ann") throws -> State {
        try Self.state(curl("_reset/\(vendor)", ["user": .string(user)]))
    }

    /// The n-th call from now fails in this way; 0 is every call.
    func fail(_ vendor: String, at number: Int, _ kind: String) throws {
        _ = try curl("_fault/\(vendor)", ["at": .integer(Int64(number)), "kind": .string(kind)])
    }

    /// All things of a vendor by their ids, each with its `owner`; given ones replace them.
    @discardableResult
    func things(_ vendor: String, _ things: JSONValue? = nil) throws -> JSONValue {
        guard let json = JSONValue(try curl("_things/\(vendor)", things)) else {
            throw ServerFailure(text: "no things")
        }
        return json
    }

    private func curl(_ path: String, _ body: JSONValue?) throws -> [UInt8] {
        let client = Process()
        client.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
        client.arguments =
            ["-sS", "--cacert", folder + "/cert.pem"]
            + (body.map { ["--data-binary", $0.compactText] } ?? [])
            + ["https://localhost:\(port)/\(path)"]
        let output = Pipe()
        client.standardOutput = output
        return Array(try client.runToEnd(reading: output))
    }

    // MARK: Stores

    /// Reads a section of the configuration; its base URL leads to a vendor of this server.
    func configuration(_ text: String, of vendor: String) throws -> StoreConfiguration {
        let head = """
            [[store]]
            name = "api"
            kind = "http"
            base_url = "https://localhost:\(port)/\(vendor)"
            ca_file = "\(folder)/cert.pem"
            allow_private_addresses = true
            timeout = "300s"

            """
        let place = "https://localhost:\(port)/\(vendor)"
        return try Self.read(head + text.replacing("{stand-in}", with: place))
    }

    static func read(_ text: String) throws -> StoreConfiguration {
        let table = SettingsTable(
            StoreConfiguration.settings([HTTPKind.self]),
            kinds: [.store: [HTTPKind.self]]
        )
        var reader = try ConfigurationLoader.open(Array(text.utf8), file: "t", table: table)
        let stores = reader.readStores()
        try reader.finish()
        return try #require(stores.first)
    }

    /// Opens the store of a configuration, and closes it behind `body`.
    func with<Result>(
        _ text: String,
        of vendor: String = "example",
        secret: String = HTTPServer.secret,
        now: WallTime = HTTPServer.now,
        step: Duration = .zero,
        _ body: (HTTPStore) async throws -> Result
    ) async throws -> Result {
        let configuration = try configuration(text, of: vendor)
        let settings = try #require(configuration.settings as? HTTPKind)
        let clock = SteppingClock(now, step)
        let adapters = AdapterEnvironment(
            credential: { _, _ in Secret(secret) },
            signer: { _, _, _ in throw ServerFailure(text: "no signer") },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            now: { clock.read() },
            logger: Logger(label: "test")
        )
        let environment = StoreEnvironment(
            store: configuration,
            adapters: adapters,
            hasher: NoHasher(),
            neighbours: SchemaClaims()
        )
        let store = try await settings.open(environment)
        do {
            let result = try await body(store)
            await store.shutdown()
            return result
        } catch {
            await store.shutdown()
            throw error
        }
    }

    /// Goes on with each look at it, so that what waits for time comes to its end.
    private final class SteppingClock: Sendable {
        private let time: Mutex<WallTime>
        private let step: Duration

        init(_ start: WallTime, _ step: Duration) {
            time = Mutex(start)
            self.step = step
        }

        func read() -> WallTime {
            time.withLock { time in
                time = time + step
                return time
            }
        }
    }

    private struct NoHasher: KeyedHasher {
        func hash(_ text: String, domain: HashDomain) -> [UInt8] { [] }
    }
}
