import FoundationEssentials
import GRDB
import Lifecycle
import Testing

@testable import Stores

/// What the files of a database still hold of deleted rows, and what the receipt says of it.
@Suite("Residual copies of deleted rows") struct ResidualCopyTests {
    private static let secret = "never-again-in-any-page"

    private func app(wal: Bool) throws -> AppDatabase {
        let app = try AppDatabase(
            """
            PRAGMA secure_delete = ON;
            CREATE TABLE posts(u TEXT, body TEXT);
            INSERT INTO posts VALUES ('ann', '\(Self.secret)'), ('bob', 'stays');
            """,
            wal: wal
        )
        if wal { try app.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
        return app
    }

    private func purge(_ app: AppDatabase, keptFor: Duration? = nil) async throws -> PurgeCounts {
        let rule = TableRule(table: "posts", column: "u", action: .delete)
        var plan = SQLiteStorePlan(name: StoreName("app-db"), path: app.path, rules: [rule])
        plan.residualCopiesKept = keptFor
        let store = SQLiteStore(plan: plan, hasher: StandInHasher(), clock: .still())
        let answer = try #require(await store.purge([order("ann")]).first)
        guard case .done(let counts) = answer else { throw Missing() }
        #expect(counts.entries.map(\.rowCount) == [1])
        #expect(await store.verify([order("ann")]) == [.clean])
        return counts
    }

    private func isInFiles(of app: AppDatabase) throws -> Bool {
        try FileManager.default.contentsOfDirectory(atPath: app.folder).contains { name in
            let bytes = try Data(contentsOf: URL(fileURLWithPath: app.folder + "/" + name))
            return bytes.firstRange(of: Data(Self.secret.utf8)) != nil
        }
    }

    @Test("a rollback journal leaves none")
    func rollbackJournal() async throws {
        let app = try app(wal: false)
        #expect(try isInFiles(of: app))
        #expect(try await purge(app).residualCopies == [])
        #expect(try !isInFiles(of: app))
    }

    @Test("a write-ahead log leaves them until a checkpoint, and the receipt names them")
    func writeAheadLog() async throws {
        let app = try app(wal: true)
        let residualCopies = try await purge(app).residualCopies
        #expect(residualCopies.map(\.until) == [nil])
        #expect(residualCopies.first?.text.contains("write-ahead log") == true)
        #expect(try isInFiles(of: app), "no checkpoint yet")
        try app.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        #expect(try !isInFiles(of: app))
    }

    @Test("they are dated where the operator has said how long they last")
    func dated() async throws {
        let app = try app(wal: true)
        let residualCopies = try await purge(app, keptFor: .seconds(86_400)).residualCopies
        #expect(residualCopies.map(\.until) == [present + .seconds(86_400)])
    }
}
