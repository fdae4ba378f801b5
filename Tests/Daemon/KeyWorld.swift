import Control
import Engine
import FoundationEssentials
import GRDB
import Lifecycle
import NIOPosix
import Settings
import Storage
import Stores
import Testing
import Vault

@testable import Daemon

/// A database whose rows name ids of two folders: one for each customer, one for each workspace.
final class KeyWorld: Sendable {
    static let day = Duration.seconds(86_400)
    static let stores = ["app-db", "crm", "spaces"].map { StoreName($0) }

    let bench: Bench
    let registry: AdapterRegistry
    let clock = JumpingClock()
    let counter = RecheckCounter()
    let vault: SealedVault
    private let database: DatabaseQueue
    private let service: DatabaseQueue

    /// `more` are stores besides, which the folder `threads` and `service.db` are there for.
    init(_ vault: SealedVault? = nil, more: (String) -> String = { _ in "" }) async throws {
        self.vault = try vault ?? SealedUsers.vault(1)
        bench = try Bench()
        database = try Bench.application(bench.directory + "/app.db")
        try await database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE accounts (user_id TEXT NOT NULL, crm_id TEXT);
                    CREATE INDEX accounts_user ON accounts (user_id);
                    CREATE TABLE members (user_id TEXT NOT NULL, workspace TEXT NOT NULL);
                    CREATE INDEX members_user ON members (user_id);
                    CREATE INDEX members_workspace ON members (workspace);
                    """
            )
        }
        for name in ["crm", "spaces", "threads"] {
            try Self.makeFolder(bench.directory + "/" + name, name)
        }
        try Self.makeFolder(bench.directory + "/copy", "crm")
        service = try Bench.application(bench.directory + "/service.db")
        try await service.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE tickets (customer TEXT NOT NULL, thread TEXT NOT NULL);
                    CREATE INDEX tickets_customer ON tickets (customer);
                    """
            )
        }
        var factory = AdapterFactory(
            credentials: nil,
            hasher: bench.hasher,
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            now: { Bench.start },
            logger: bench.log.logger
        )
        factory.keys = FoundKeyService(
            state: bench.state,
            vault: self.vault,
            hasher: bench.hasher,
            logger: bench.log.logger
        )
        let text = Self.configuration(bench.directory) + more(bench.directory)
        let configuration = try DaemonConfiguration.parse(Array(text.utf8), file: "t.toml")
        registry = AdapterRegistry(try await factory.make(configuration))
    }

    private static func makeFolder(_ path: String, _ name: String) throws {
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true
        )
        try Data("\(name)\n".utf8).write(to: URL(filePath: path + "/.expunged-root"))
    }

    private static func configuration(_ directory: String) -> String {
        """
        [requests]
        rechecks = ["24h", "7d"]
        [[store]]
        name = "spaces"
        kind = "files"
        root = "\(directory)/spaces"
        paths = ["{user_id}"]
        keyed_by = "app-db.workspace"
        [[store]]
        name = "app-db"
        kind = "sqlite"
        path = "\(directory)/app.db"
        [[store.table]]
        table = "accounts"
        column = "user_id"
        action = "delete"
        [[store.table]]
        table = "members"
        column = "user_id"
        action = "delete"
        [[store.key]]
        name = "customer"
        table = "accounts"
        column = "user_id"
        value = "crm_id"
        [[store.key]]
        name = "workspace"
        table = "members"
        column = "user_id"
        value = "workspace"
        shared = true
        [[store]]
        name = "crm"
        kind = "files"
        root = "\(directory)/crm"
        paths = ["{user_id}.json"]
        keyed_by = "app-db.customer"
        """
    }

    // MARK: The application

    /// A user with a customer record and workspaces.
    func insert(_ user: String, _ customer: String, _ workspaces: String...) async throws {
        try await database.write { db in
            try db.execute(
                sql: "INSERT INTO accounts VALUES (?, ?)",
                arguments: [user, customer]
            )
            for workspace in workspaces {
                try db.execute(
                    sql: "INSERT INTO members VALUES (?, ?)",
                    arguments: [user, workspace]
                )
            }
        }
        try write("crm/\(customer).json")
        for workspace in workspaces { try write("spaces/\(workspace)") }
    }

    /// A user's row alone.
    func join(_ user: String, _ workspace: String) async throws {
        try await database.write { db in
            try db.execute(sql: "INSERT INTO members VALUES (?, ?)", arguments: [user, workspace])
        }
    }

    /// Takes the rows that name a user, and nothing else.
    func remove(_ user: String) async throws {
        try await database.write { db in
            for table in ["accounts", "members"] {
                try db.execute(sql: "DELETE FROM \(table) WHERE user_id = ?", arguments: [user])
            }
        }
    }

    /// A row that knows no user, but the customer.
    func insertTicket(_ customer: String, _ thread: String) async throws {
        try await service.write { db in
            try db.execute(sql: "INSERT INTO tickets VALUES (?, ?)", arguments: [customer, thread])
        }
    }

    func customersWithTickets() async throws -> [String] {
        try await service.read { try String.fetchAll($0, sql: "SELECT customer FROM tickets") }
    }

    func write(_ path: String) throws {
        try Data("data".utf8).write(to: URL(filePath: bench.directory + "/" + path))
    }

    func delete(_ path: String) throws {
        try FileManager.default.removeItem(atPath: bench.directory + "/" + path)
    }

    func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: bench.directory + "/" + folder)
            .filter { $0 != ".expunged-root" }.sorted()
    }

    /// Users that rows name.
    func users() async throws -> Set<String> {
        try await database.read { db in
            Set(
                try String.fetchAll(
                    db,
                    sql: "SELECT user_id FROM accounts UNION SELECT user_id FROM members"
                )
            )
        }
    }

    // MARK: Deletions

    func submit(_ user: String) async throws -> LoadedRequest {
        let stores = registry.current.configuration.stores.map(\.name)
        return try await bench.submit(user, stores: stores, at: clock.now())
    }

    func order(_ loaded: LoadedRequest) -> PurgeOrder {
        // The files of these tests are of today.
        PurgeOrder(request: loaded.request.id, user: loaded.user, cutoff: .distantFuture)
    }

    /// Purges and verifies as the engine does, one store after the other.
    @discardableResult
    func purge(_ loaded: LoadedRequest, _ stores: [StoreName] = stores) async -> [PurgeAnswer] {
        var answers: [PurgeAnswer] = []
        for name in stores {
            let purged = await registry.current.stores[name]?.purge([order(loaded)]) ?? []
            let left = await registry.current.stores[name]?.verify([order(loaded)]) ?? []
            answers += purged
            // Where no key led, both say so.
            if case .done(let counts)? = purged.first, counts.isNotLookedFor {
                #expect(left == [.notLookedFor])
            } else {
                #expect(left == [.clean])
            }
        }
        return answers
    }

    /// The engine's last commit.
    func complete(_ loaded: LoadedRequest, withRecheck: Bool = true) async throws {
        var done = loaded.request
        for index in done.purges.indices { done.purges[index].step = .verified }
        done.phase = .completed
        done.endedAt = clock.now()
        done.dueAt = nil
        var changes: [StateChange] = [.save(now: done, was: loaded.request, at: clock.now())]
        let sealer = RecheckSealer(vault: vault, registry: registry, logger: bench.log.logger)
        if withRecheck, let opened = sealer.open(done, of: loaded.user) {
            changes.append(.openRecheck(opened))
        }
        _ = try await bench.state.commit(changes)
    }

    /// Lets time pass until so long after the start, and looks at the cases.
    func look(after duration: Duration) async throws {
        try await clock.sleep(until: Bench.start + duration)
        let rechecks = RecheckService(
            parts: try bench.recheckParts(registry, clock, vault: vault, counter: counter)
        )
        var run = RecheckRun(.rechecks)
        _ = try await rechecks.recheck(&run)
    }

    func replay(
        copy: (any PurgeStore)? = nil,
        _ change: (inout ReplayTerms) -> Void = { _ in }
    ) async throws -> WireReplay {
        let service = try bench.replay(registry, clock, copy: copy)
        var input = ReplayTerms(since: Bench.start)
        input.restoredAt = clock.now()
        change(&input)
        try service.begin(input)
        service.stop()
        try await service.run()
        return service.progress
    }

    /// Looks for what was erased long ago until something was told.
    func sample() async throws {
        let sampler = TombstoneSampler(
            parts: try bench.recheckParts(registry, clock, vault: vault, counter: counter),
            interval: Self.day
        )
        let before = bench.log.all.count
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await sampler.run() }
            for await _ in bench.log.changes
            where bench.log.all.dropFirst(before).contains(where: { $0.contains("sample") }) {
                break
            }
            group.cancelAll()
        }
    }

    // MARK: Our own files

    func rows(_ table: String = "found_keys") async throws -> Int {
        try await bench.state.writer.perform { database in
            try database.int("SELECT count(*) FROM \(table)")
        }
    }

    /// Whether a text stands in any file of the state.
    func isInFiles(_ text: String) async throws -> Bool {
        try await bench.state.scrub()
        return try FileManager.default.contentsOfDirectory(atPath: bench.directory).contains {
            guard $0.hasPrefix("state.db") else { return false }
            let data = try Data(contentsOf: URL(filePath: bench.directory + "/" + $0))
            return Array(data).firstRange(of: Array(text.utf8)) != nil
        }
    }
}
