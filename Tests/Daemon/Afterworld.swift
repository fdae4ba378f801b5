import Engine
import FoundationEssentials
import GRDB
import Lifecycle
import NIOPosix
import Settings
import Storage
import Synchronization
import Testing
import Vault

@testable import Daemon

/// A store in SQLite, completed deletions of its users, and somebody who looks again.
final class Afterworld: Sendable {
    static let settings = """
        [requests]
        rechecks = ["24h", "7d"]
        """
    static let day = Duration.seconds(86_400)

    let bench: Bench
    let registry: AdapterRegistry
    let clock = JumpingClock()
    let counter = RecheckCounter()
    private let factory: AdapterFactory
    private let database: DatabaseQueue

    init(_ settings: String = Afterworld.settings, isDated: Bool = false) async throws {
        bench = try Bench()
        try await bench.enforce()
        database = try Bench.application(bench.directory + "/app.db")
        try await database.write { db in
            try db.execute(sql: "CREATE TABLE posts (id INTEGER PRIMARY KEY, author TEXT NOT NULL)")
            try db.execute(sql: "CREATE INDEX posts_author ON posts (author)")
            try db.execute(sql: "ALTER TABLE posts ADD COLUMN made INTEGER NOT NULL DEFAULT 0")
        }
        factory = AdapterFactory(
            credentials: nil,
            hasher: bench.hasher,
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            now: { Bench.start },
            logger: bench.log.logger
        )
        let text =
            Self.configuration(settings, bench.directory)
            + (isDated ? "\ncreated_at_column = \"made\"\ncreated_at_unit = \"unix_s\"" : "")
        registry = AdapterRegistry(
            try await factory.make(
                try DaemonConfiguration.parse(Array(text.utf8), file: "t.toml")
            )
        )
    }

    private static func configuration(_ settings: String, _ directory: String) -> String {
        """
        \(settings)
        [[store]]
        name = "app-db"
        kind = "sqlite"
        path = "\(directory)/app.db"
        [[store.table]]
        table = "posts"
        column = "author"
        action = "delete"
        """
    }

    /// Takes the stores out of the configuration.
    func removeStores(_ settings: String = Afterworld.settings) throws {
        let configuration = try DaemonConfiguration.parse(Array(settings.utf8), file: "t.toml")
        _ = registry.replace(
            with: Adapters(configuration: configuration, providers: [:], stores: [:])
        )
    }

    // MARK: The application

    func insert(_ user: String, _ count: Int = 2) async throws {
        try await database.write { db in
            for _ in 0..<count {
                try db.execute(sql: "INSERT INTO posts (author) VALUES (?)", arguments: [user])
            }
        }
    }

    /// Dates all rows of a user.
    func date(_ user: String, at seconds: Int64) async throws {
        try await database.write { db in
            let sql = "UPDATE posts SET made = ? WHERE author = ?"
            try db.execute(sql: sql, arguments: [seconds, user])
        }
    }

    func erase(_ user: String) async throws {
        try await database.write { db in
            try db.execute(sql: "DELETE FROM posts WHERE author = ?", arguments: [user])
        }
    }

    /// Makes the store unusable, and usable again.
    func setBroken(_ isBroken: Bool) async throws {
        try await database.write { db in
            try db.execute(
                sql: isBroken
                    ? "ALTER TABLE posts RENAME TO gone" : "ALTER TABLE gone RENAME TO posts"
            )
        }
    }

    // MARK: Deletions

    /// Hands in a deletion as an application does.
    func submit(_ user: String, stores: [String] = ["app-db"]) async throws -> LoadedRequest {
        try await bench.submit(user, stores: stores.map { StoreName($0) }, at: clock.now())
    }

    /// Completes a deletion as the engine's last commit does.
    @discardableResult
    func complete(
        _ user: String,
        stores: [String] = ["app-db"],
        vault: SealedVault? = nil
    ) async throws -> RequestID {
        let loaded = try await submit(user, stores: stores)
        var done = loaded.request
        for index in done.purges.indices { done.purges[index].step = .verified }
        done.phase = .completed
        done.endedAt = clock.now()
        done.dueAt = nil
        let opened = try #require(try sealer(vault).open(done, of: loaded.user))
        _ = try await bench.state.commit([
            .save(now: done, was: loaded.request, at: clock.now()), .openRecheck(opened),
        ])
        return done.id
    }

    func sealer(_ vault: SealedVault? = nil) throws -> RecheckSealer {
        RecheckSealer(
            vault: try vault ?? SealedUsers.vault(1),
            registry: registry,
            logger: bench.log.logger
        )
    }

    // MARK: Looking again

    func rechecks(_ vault: SealedVault? = nil) throws -> RecheckService {
        RecheckService(
            parts: try bench.recheckParts(registry, clock, vault: vault, counter: counter)
        )
    }

    func sampler(every interval: Duration) throws -> TombstoneSampler {
        TombstoneSampler(
            parts: try bench.recheckParts(registry, clock, counter: counter),
            interval: interval
        )
    }

    /// Lets time pass until so long after the start, and looks.
    @discardableResult
    func look(after duration: Duration, _ vault: SealedVault? = nil) async throws -> WallTime? {
        try await clock.sleep(until: Bench.start + duration)
        var run = RecheckRun(.rechecks)
        return try await rechecks(vault).recheck(&run)
    }

    func record(_ id: RequestID) async throws -> RequestRecord {
        try #require(try await bench.state.requestRecord(id))
    }

    /// Where bytes are in the files of the state.
    func files(holding bytes: [UInt8]) async throws -> [String] {
        try await bench.state.scrub()
        return try FileManager.default.contentsOfDirectory(atPath: bench.directory).filter {
            guard $0.hasPrefix("state.db") else { return false }
            let data = try Data(contentsOf: URL(filePath: bench.directory + "/" + $0))
            return Array(data).firstRange(of: bytes) != nil
        }
    }
}
