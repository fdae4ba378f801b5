import Engine
import Glibc
import Lifecycle
import Testing

@testable import Storage

@Suite("A state that moves between a file and a server") struct MigrationTests {
    /// A file with requests, credentials, notes, a pause, a message to come and a ledger.
    private static func fill() async throws -> StateFixture {
        let fixture = try StateFixture()
        _ = try await fixture.keep(StateFixture.credential("ann", "token", subject: "s"))
        _ = try await fixture.open("ann")
        let ended = try await fixture.open("bob")
        try await fixture.save(ended.request.completed(), was: ended.request)
        try await fixture.database.setNote("hash_key", to: "abc")
        try await fixture.database.setOwnNote("ledger_accepted", to: "3")
        try await fixture.execute("INSERT INTO pauses VALUES ('store', 'app-db', 'o', 1)")
        try await fixture.execute(
            "INSERT INTO imports VALUES ('f1', 'requests', 7, x'01', NULL, 'é', 1, 0, 5)"
        )
        try await fixture.execute(
            "INSERT INTO imports VALUES ('queue:q:1', 'requests', 7, x'01', NULL, '', 1, 0, 5)"
        )
        try await fixture.execute("INSERT INTO ledger_checkpoints VALUES ('', 1, 2, 'note', 9)")
        return fixture
    }

    private static func dump(_ path: String) async throws -> [String: [String]] {
        let database = try StateDatabase.open(path: path, now: { StateFixture.start })
        let found = try await database.read { connection in
            var found: [String: [String]] = [:]
            for table in try MigratedTable.all(connection) {
                try connection.step(table.selection, []) { values in
                    found[table.name, default: []].append("\(table.row(values))")
                    return true
                }
                found[table.name]?.sort()
            }
            return found
        }
        try await database.close()
        return found
    }

    @Test func `there and back, every row is as it was`() async throws {
        let fixture = try await Self.fill()
        let path = fixture.directory + "/state.db"
        try await fixture.database.close()
        let before = try await Self.dump(path)
        #expect(before["requests"]?.count == 2 && before["ledger"]?.isEmpty == false)
        let server = try StateServer.shared.get()
        let plan = server.plan(host: "a")
        try server.create(plan)
        let there = try StateMigration(path: path, plan: plan).toServer()
        #expect(there.rows > 10 && there.ledgerSize > 0)
        // A second time it would be mixed with what is there.
        let again = #expect(throws: StorageError.self) {
            try StateMigration(path: path, plan: plan).toServer()
        }
        #expect(again?.cause?.contains("has a state already") == true)

        // The server's service knows the request, and goes on numbering.
        let shared = try SharedDatabase.open(plan, purgesPerHourMax: 9, now: { StateFixture.start })
        #expect(try await shared.state.ownNote("ledger_accepted") == "3")
        #expect(try await shared.state.pauses().stores.keys.map(\.rawValue) == ["app-db"])
        #expect(
            try await shared.state.read { try $0.int("SELECT count(*) FROM requests") } == 2
        )
        _ = try await shared.accept("carl")
        try await shared.close()

        let copy = try StateFixture.makeDirectory() + "/state.db"
        let back = try StateMigration(path: copy, plan: plan).toFile()
        // What is at the server is not a state any more that another host could go on with.
        #expect(throws: StorageError.self) {
            try SharedDatabase.open(plan, purgesPerHourMax: 9, now: { StateFixture.start })
        }
        #expect(back.rows > there.rows && back.ledgerSize > there.ledgerSize)
        let after = try await Self.dump(copy)
        for (table, rows) in before where !["requests", "meta", "ledger", "users"].contains(table) {
            #expect(Set(rows).isSubset(of: Set(after[table] ?? [])), "\(table)")
        }
        #expect(after["requests"]?.count == 3)
        #expect(Set(before["ledger"] ?? []).isSubset(of: Set(after["ledger"] ?? [])))
        #expect(after["imports"] == before["imports"])
        #expect(after["ledger_checkpoints"] == before["ledger_checkpoints"])
    }

    @Test func `no file is made where there is none, nor by a move that fails`() async throws {
        let server = try StateServer.shared.get()
        let plan = server.plan(host: "a")
        try server.create(plan)
        let path = try StateFixture.makeDirectory() + "/state.db"
        let absent = #expect(throws: StorageError.self) {
            try StateMigration(path: path, plan: plan).toServer()
        }
        #expect(absent?.cause == "there is no such file")
        #expect(unsafe access(path, F_OK) != 0)
        // The schema cannot get its new name, which comes last.
        try server.run("CREATE SCHEMA \(plan.schema)_moved", in: plan.schema)
        #expect(throws: StorageError.self) {
            try StateMigration(path: path, plan: plan).toFile()
        }
        #expect(unsafe access(path, F_OK) != 0 && access(path + "-wal", F_OK) != 0)
    }

    @Test func `a row that is not what was copied stops the move`() async throws {
        let fixture = try await Self.fill()
        let path = fixture.directory + "/state.db"
        try await fixture.database.close()
        let server = try StateServer.shared.get()
        let plan = server.plan(host: "a")
        try server.create(plan)
        // Not a trigger of the user's, which the move turns off.
        try server.run(
            """
            CREATE RULE twice AS ON INSERT TO pauses
            DO ALSO INSERT INTO user_holds VALUES ('x', 'y', 1, 1)
            """,
            in: plan.schema
        )
        let refused = #expect(throws: StorageError.self) {
            try StateMigration(path: path, plan: plan).toServer()
        }
        #expect(refused?.cause?.contains("is not what was copied") == true, "\(refused)")
    }
}
