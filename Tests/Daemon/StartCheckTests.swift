import FoundationEssentials
import GRDB
import Glibc
import Lifecycle
import Storage
import Systemd
import Testing
import Vault

@testable import Daemon
@testable import Sandbox

/// Whatever ends a start, `expunged --check` finds.
struct StartCheckTests {
    /// Something that ends the start at a step.
    private struct Obstacle: Sendable {
        let place: String
        let reason: String
        var environment: [String: String] = [:]
        let make: @Sendable (CheckBench) async throws -> Void

        init(
            _ place: String,
            _ reason: String,
            environment: [String: String] = [:],
            _ make: @escaping @Sendable (CheckBench) async throws -> Void
        ) {
            (self.place, self.reason, self.environment) = (place, reason, environment)
            self.make = make
        }
    }

    /// No `default`: a new step needs an obstacle.
    private static func obstacles(of step: StartStep) -> [Obstacle] {
        switch step {
        case .directories:
            [
                Obstacle("/state", "no directory") {
                    try FileManager.default.removeItem(atPath: $0.directory + "/state")
                    try $0.write("state", "")
                }
            ]
        case .state: stateObstacles
        case .configuration:
            [
                Obstacle(
                    "expunged.toml",
                    "(unreadable)",
                    environment: ["EXPUNGED_JOURNAL_LEVEL": "warning"]
                ) { bench in
                    try await open(bench) { state, _ in
                        let configuration = try DaemonConfiguration.load(
                            path: bench.directory + "/expunged.toml"
                        )
                        let scope = ErasureScope(configuration, [:])
                        try await state.enforce(scope: scope.document())
                    }
                }
            ]
        case .hashKey:
            [
                Obstacle("/state/hash.key", "(missing_key_file)") {
                    try $0.remove("state/hash.key")
                },
                Obstacle("/state/hash.key", "(changed)") {
                    try $0.write("state/hash.key", String(repeating: "k", count: 32))
                },
            ]
        case .ledger: ledgerObstacles
        case .vault:
            [
                Obstacle("expunged.toml", "(unknown_vault_key)") {
                    let other = Data(repeating: 2, count: 32).base64EncodedString()
                    try $0.write("credentials/vault-key", other)
                }
            ]
        case .adapters:
            [
                Obstacle(": provider.apple", "no certificate") { try $0.write("ca.pem", "text") }
            ]
        case .sockets:
            [
                Obstacle(
                    "/nowhere",
                    "no socket",
                    environment: ["RUNTIME_DIRECTORY": "/nowhere"]
                ) { _ in }
            ]
        }
    }

    private static var stateObstacles: [Obstacle] {
        [
            Obstacle("/state/state.db", "(other_schema)") {
                try change($0, "PRAGMA user_version = 1")
            },
            Obstacle("/state/state.db", "(unopenable)") {
                try change($0, "PRAGMA application_id = 1")
            },
            Obstacle("/state/state.db", "state.db") {
                try $0.write("state/state.db", String(repeating: "text ", count: 1000))
            },
            Obstacle("/state/state.db.lock", "not a regular file") {
                try $0.remove("state/state.db.lock")
                try makeFolder($0, "state/state.db.lock")
            },
            Obstacle("/state/crash-marker", "not a regular file") {
                try makeFolder($0, "state/crash-marker")
            },
        ]
    }

    private static var ledgerObstacles: [Obstacle] {
        [
            Obstacle("/state/ledger.key", "(missing_key_file)") {
                try $0.remove("state/ledger.key")
            },
            Obstacle("/state/ledger.key", "(changed)") {
                try $0.write("state/ledger.key", String(repeating: "k", count: 32))
            },
            Obstacle("/state/ledger.key", "(malformed_key)") {
                try $0.write("credentials/ledger-key", "short")
            },
            Obstacle("/logs/checkpoints", "not a regular file") {
                try makeFolder($0, "logs/checkpoints")
            },
            Obstacle("/logs/checkpoints", "not a regular file") {
                try $0.remove("logs")
                try $0.write("logs", "")
            },
        ]
    }

    private static func makeFolder(_ bench: CheckBench, _ name: String) throws {
        try FileManager.default.createDirectory(
            atPath: "\(bench.directory)/\(name)",
            withIntermediateDirectories: false
        )
    }

    private static func change(_ bench: CheckBench, _ sql: String) throws {
        let database = try DatabaseQueue(path: bench.directory + "/state/state.db")
        try database.writeWithoutTransaction { try $0.execute(sql: sql) }
        try database.close()
    }

    private static func open(
        _ bench: CheckBench,
        _ body: (StateDatabase, ServiceDirectories) async throws -> Void
    ) async throws {
        let directories = try ServiceDirectories(
            environment: [:],
            overrides: .init(state: bench.directory + "/state", logs: bench.directory + "/logs")
        )
        let path = directories.state + "/state.db"
        let state = try StateDatabase.open(path: path, now: { Bench.start })
        try await body(state, directories)
        try await state.close()
    }

    /// What a service leaves that has worked with the bench's vault key.
    private static func work(_ bench: CheckBench) async throws {
        try await open(bench) { state, directories in
            try SpoolPlace(stateDirectory: directories.state).makeIfMissing()
            let hasher = try DaemonBuilder.hashKey(in: directories.state, known: nil)
            try await state.setNote("hash_key", to: hasher.fingerprintText)
            let keeper = try await LedgerSetup(
                state: state,
                directories: directories,
                clock: JumpingClock(),
                logger: LogBook().logger
            ).open()
            try await keeper.checkpoint()
        }
        let text = Data(repeating: 1, count: 32).base64EncodedString()
        let id = try VaultKey(text: Secret(text), name: "vault-key").id
        try change(
            bench,
            """
            INSERT INTO users (user_hash, wrapped_key, key_id, id_nonce, sealed_id)
            VALUES (zeroblob(32), x'00', '\(id)', x'00', x'00')
            """
        )
    }

    private static func with(
        _ body: (CheckBench, LocalServer) async throws -> Void
    ) async throws {
        let bench = try CheckBench()
        let keys = LocalServer.Reply(body: try TestIssuer().keySet())
        let known = LocalServer.Reply(status: 400, body: #"{"error":"invalid_grant"}"#)
        try await LocalServer.with(
            bench.directory,
            react: { $0.path.hasSuffix("/keys") ? keys : known },
            body: { server in
                try await work(bench)
                try await body(bench, server)
            }
        )
    }

    @Test(arguments: StartStep.allCases)
    func `what ends the start at each step is found`(_ step: StartStep) async throws {
        for obstacle in Self.obstacles(of: step) {
            try await Self.with { bench, server in
                #expect(try await bench.check(at: server).map(\.text) == [])
                try await obstacle.make(bench)
                let found = try await bench.check(
                    at: server,
                    environment: obstacle.environment,
                    isFileThere: step != .configuration
                )
                let isFound = found.contains {
                    $0.severity == .error && $0.place.contains(obstacle.place)
                        && $0.reason.contains(obstacle.reason)
                }
                #expect(isFound, "\(step): \(found.map(\.text))")
            }
        }
    }

    @Test func `a check of a running service finds nothing and changes nothing`() async throws {
        try await Self.with { bench, server in
            try await Self.open(bench) { state, _ in
                let texts = try await bench.check(at: server).map(\.text)
                let key = try await state.note("hash_key")
                #expect(texts.isEmpty && key != nil)
            }
        }
    }
}
