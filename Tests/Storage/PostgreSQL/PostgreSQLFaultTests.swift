import Glibc
import Ledger
import Lifecycle
import PostgreSQL
import Synchronization
import Testing

@testable import Storage

@Suite("A state in PostgreSQL whose connections end")
struct PostgreSQLFaultTests {
    private static let insert = "INSERT INTO sign_ins VALUES (randomblob(16), 1)"

    private struct Bench {
        let server: StateServer
        let plan: PostgreSQLStatePlan
        let database: StateDatabase
        let faults = StatementFaults()

        init(willCommit: @escaping @Sendable () throws -> Void = {}) throws {
            server = try StateServer.shared.get()
            var plan = server.plan()
            try server.create(plan)
            plan.faults = faults.hooks
            self.plan = plan
            database = try StateDatabase.open(
                plan,
                now: { StateFixture.start },
                willCommit: willCommit
            )
        }

        func add() async throws { try await database.writer.run(insert) }

        var count: Int {
            get async throws {
                try await database.read { try $0.int("SELECT count(*) FROM sign_ins") }
            }
        }
    }

    private static func kind(
        of body: () async throws -> Void
    ) async throws -> StorageError.Kind? {
        do {
            try await body()
            return nil
        } catch let error as StorageError {
            return error.kind
        }
    }

    @Test func `a connection that ends before COMMIT has committed nothing`() async throws {
        let bench = try Bench()
        bench.faults.end(before: "COMMIT")
        #expect(try await Self.kind { try await bench.add() } == .unreachable)
        #expect(try await bench.count == 0)
        try await bench.add()
        #expect(try await bench.count == 1)
    }

    @Test func `a commit whose answer is lost is found, and its callers go on`() async throws {
        let bench = try Bench()
        bench.faults.end(after: "COMMIT")
        try await bench.add()
        #expect(try await bench.count == 1)
        try await bench.add()
        #expect(try await bench.count == 2)
    }

    @Test func `the ledger goes on after a commit whose answer is lost`() async throws {
        let bench = try Bench()
        let entry = {
            try await bench.database.write { _, appender in
                _ = appender.write(StateFixture.start, [(.event, .word("test"))])
            }
        }
        bench.faults.end(after: "COMMIT")
        try await entry()
        bench.faults.end(before: "COMMIT")
        #expect(try await Self.kind(of: entry) == .unreachable)
        try await entry()
        #expect(try await bench.database.ledgerRows(from: 0).map(\.first) == [0, 1])
    }

    @Test(arguments: ["BEGIN", "UPDATE commits", "INSERT INTO sign_ins"])
    func `a mutation whose connection ends is not lost or made twice`(
        _ statement: String
    ) async throws {
        let bench = try Bench()
        bench.faults.end(after: statement)
        let kind = try await Self.kind { try await bench.add() }
        #expect(kind == nil || kind == .unreachable)
        #expect(try await bench.count == (kind == nil ? 1 : 0))
        try await bench.add()
    }

    @Test func `without a server nothing is committed, and later calls succeed`() async throws {
        let bench = try Bench()
        bench.faults.isDown(true)
        bench.faults.end(before: "INSERT")
        #expect(try await Self.kind { try await bench.add() } == .unreachable)
        #expect(try await Self.kind { try await bench.add() } == .unreachable)
        bench.faults.isDown(false)
        try await bench.add()
        #expect(try await bench.count == 1)
    }

    @Test func `a read whose connection ends is made again`() async throws {
        let bench = try Bench()
        try await bench.add()
        bench.faults.end(before: "SELECT count")
        #expect(try await bench.count == 1)
        bench.faults.end(after: "SELECT count")
        #expect(try await bench.count == 1)
    }

    @Test func `one mutation that fails is separated from the others of its batch`() async throws {
        let bench = try Bench()
        let writer = bench.database.writer
        let results = await withTaskGroup(of: StorageError.Kind?.self) { group in
            for index in 0..<300 {
                group.addTask {
                    do {
                        let sql = index.isMultiple(of: 3) ? "INSERT INTO nothing" : Self.insert
                        try await writer.run(sql)
                        return nil
                    } catch {
                        return (error as? StorageError)?.kind
                    }
                }
            }
            return await group.reduce(into: [StorageError.Kind?]()) { $0.append($1) }
        }
        #expect(results.count { $0 == .sqlite } == 100)
        #expect(try await bench.count == 200)
    }

    @Test func `a statement that was sent fails its own mutation and no other`() async throws {
        let bench = try Bench()
        let writer = bench.database.writer
        let results = await withTaskGroup(of: Bool.self) { group in
            for index in 0..<30 {
                group.addTask {
                    do {
                        try await writer.perform { connection in
                            try connection.send(Self.insert, [])
                            let number = SQLValue.int(index.isMultiple(of: 3) ? 2 : 1)
                            try connection.send("UPDATE totals SET id = ?", [number])
                        }
                        return true
                    } catch {
                        return false
                    }
                }
            }
            return await group.reduce(into: [Bool]()) { $0.append($1) }
        }
        #expect(results.count { $0 } == 20)
        #expect(try await bench.count == 20)
    }

    @Test(arguments: [("53100", StorageError.Kind.diskFull), ("25006", .unreachable)])
    func `a full disk and a server without writes commit nothing`(
        _ state: String,
        _ kind: StorageError.Kind
    ) async throws {
        let bench = try Bench()
        let raise = """
            CREATE FUNCTION refuse () RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '\(state)'; END $$
            """
        try bench.server.run(raise, in: bench.plan.schema)
        try bench.server.run(
            "CREATE TRIGGER refuse BEFORE INSERT ON sign_ins FOR EACH ROW "
                + "EXECUTE FUNCTION refuse ()",
            in: bench.plan.schema
        )
        #expect(try await Self.kind { try await bench.add() } == kind)
        try bench.server.run("DROP TRIGGER refuse ON sign_ins", in: bench.plan.schema)
        try await bench.add()
        #expect(try await bench.count == 1)
    }

    @Test func `a second process of a host stops the first`() async throws {
        let bench = try Bench()
        try await bench.add()
        let again = try StateDatabase.open(
            bench.server.plan(schema: bench.plan.schema),
            now: { StateFixture.start }
        )
        #expect(try await Self.kind { try await bench.add() } == .commitFailed)
        try await again.writer.run(Self.insert)
        #expect(try await bench.count == 2)
        #expect(try await Self.kind { try await bench.add() } == .commitFailed)
    }

    @Test func `a server that has lost commits ends the process`() async throws {
        let bench = try Bench()
        try await bench.add()
        try bench.server.run("UPDATE commits SET number = number - 1", in: bench.plan.schema)
        bench.faults.end(before: "COMMIT")
        #expect(try await Self.kind { try await bench.add() } == .commitFailed)
        #expect(try await Self.kind { try await bench.add() } == .commitFailed)
        // The next process is told, until somebody accepts it.
        let next = try StateDatabase.open(bench.plan, now: { StateFixture.start })
        #expect(try await next.hasLostCommits())
        try await next.acceptLostCommits()
        #expect(try await !next.hasLostCommits())
        try await next.close()
    }

    /// Whether a process of a host notices a loss as it begins; then it commits, accepts, and ends.
    private static func isLoss(_ plan: PostgreSQLStatePlan) async throws -> Bool {
        let database = try StateDatabase.open(plan, now: { StateFixture.start })
        let isLoss = try await database.hasLostCommits()
        try await database.writer.run(insert)
        try await database.acceptLostCommits()
        try await database.close()
        return isLoss
    }

    private static func remove(_ directory: String) {
        unsafe unlink(directory + "/commits")
        unsafe rmdir(directory)
    }

    @Test(arguments: [("one", true), ("two", false)])
    func `the next process of a host notices that commits are lost`(
        _ host: String,
        _ isNoticed: Bool
    ) async throws {
        let bench = try Bench()
        let directory = try StateFixture.makeDirectory()
        defer { Self.remove(directory) }
        var plan = bench.server.plan(schema: bench.plan.schema)
        plan.commitRecordPath = directory + "/commits"
        for _ in 0..<2 { #expect(try await !Self.isLoss(plan)) }
        // The session of the first one has gone, too.
        try bench.server.run(
            "UPDATE commits SET number = number - 1, session = '\\x00'",
            in: bench.plan.schema
        )
        // The file of another host says nothing of this one.
        var next = bench.server.plan(schema: bench.plan.schema, host: host)
        next.commitRecordPath = plan.commitRecordPath
        #expect(try await Self.isLoss(next) == isNoticed)
        #expect(try await !Self.isLoss(next))
    }

    @Test func `another state has commits of its own`() async throws {
        let (bench, other) = (try Bench(), try Bench())
        let directory = try StateFixture.makeDirectory()
        defer { Self.remove(directory) }
        for bench in [bench, other, bench] {
            var plan = bench.server.plan(schema: bench.plan.schema)
            plan.commitRecordPath = directory + "/commits"
            #expect(try await !Self.isLoss(plan))
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a server that is killed and started again loses nothing that was acknowledged`()
        async throws
    {
        let server = try StateServer()
        let plan = server.plan()
        try server.create(plan)
        let database = try StateDatabase.open(plan, now: { StateFixture.start })
        var acknowledged = 0
        for round in 0..<3 {
            async let crash: Void = server.crash()
            for _ in 0..<200 {
                let kind = try await Self.kind { try await database.writer.run(Self.insert) }
                #expect(kind == nil || kind == .unreachable, "round \(round)")
                if kind == nil { acknowledged += 1 }
            }
            try await crash
            try await database.writer.run(Self.insert)
            acknowledged += 1
        }
        let count = try await database.read { try $0.int("SELECT count(*) FROM sign_ins") }
        #expect(count == acknowledged)
        try await database.close()
    }

    @Test func `another schema is refused, and so is none`() async throws {
        let bench = try Bench()
        try await bench.database.close()
        try bench.server.run("UPDATE schema_version SET version = 2", in: bench.plan.schema)
        let old = #expect(throws: StorageError.self) {
            _ = try StateDatabase.open(bench.plan, now: { StateFixture.start })
        }
        #expect(old?.kind == .otherSchema)
        let none = #expect(throws: StorageError.self) {
            _ = try StateDatabase.open(
                bench.server.plan(schema: "postgres"),
                now: { StateFixture.start }
            )
        }
        #expect(none?.kind == .unopenable)
    }
}
