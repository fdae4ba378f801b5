import Control
import Engine
import Lifecycle
import Settings
import Storage
import Testing

@testable import Daemon

struct ErasureScopeTests {
    private static let target = """
        [[target]]
        name = "app-db"
        kind = "postgresql"
        conninfo_credential = "canary-conninfo"
        backups_kept = "30d"
        [[target.table]]
        table = "posts"
        column = "author"
        action = "delete"
        created_at_column = "made"
        created_at_unit = "timestamp"
        [[target.table]]
        table = "bills"
        column = "buyer"
        action = "keep"
        keep_reason = "tax <law> & \\"more\\""
        """
    private static let files = """
        [[target]]
        name = "uploads"
        kind = "files"
        root = "/srv/canary"
        paths = ["{user_id}"]
        """
    private static let caller = Caller(role: .operator, uid: 0)

    private static func scope(_ text: String) throws -> ErasureScope {
        ErasureScope(try Bench.configuration(text), [:])
    }

    /// Completes a deletion as the engine's last commit does.
    static func complete(_ user: String, on bench: Bench) async throws -> RequestID {
        let targets = [TargetName("app-db"), TargetName("uploads")]
        let loaded = try await bench.submit(user, targets: targets, at: Bench.start)
        var done = loaded.request
        for index in done.purges.indices {
            done.purges[index].step = .verified
            done.purges[index].endedAt = Bench.start
        }
        done.purges[0].counts.entries = [
            .init(name: "posts", action: "delete", rowCount: 3, fencedCount: 1),
            .init(name: "bills", action: "keep", rowCount: 2),
        ]
        done.purges[1].counts.entries = [.init(name: "{user_id}", action: "delete", rowCount: 1)]
        done.phase = .completed
        done.endedAt = Bench.start
        done.dueAt = nil
        _ = try await bench.state.commit([.save(now: done, was: loaded.request, at: Bench.start)])
        return done.id
    }

    private static func receipt(
        _ id: RequestID,
        _ bench: Bench,
        under text: String
    ) async throws -> JSONValue {
        let full = try await bench.backend(more: text).receipt(id, caller: caller)
        guard case .object(let members) = full else { throw CancellationError() }
        return .object(members.filter { $0.name != "ledger" })
    }

    @Test func `a receipt says the same whatever the configuration becomes`() async throws {
        let bench = try Bench()
        let whole = Self.target + "\n" + Self.files
        try await bench.state.enforce(scope: Self.scope(whole).document())
        let id = try await Self.complete("alice", on: bench)
        let before = try await Self.receipt(id, bench, under: whole)
        #expect(before["configuration"]?.text == "at_completion")
        let text = before.compactText
        #expect(text.contains("kept: tax <law>"))
        #expect(text.contains("backups_kept_until"))
        #expect(text.contains("\"erasure_horizon_unknown\":[\"uploads\"]"))
        for changed in ["", Self.files, whole.replacing("30d", with: "90d")] {
            try await bench.state.enforce(scope: Self.scope(changed).document())
            #expect(try await Self.receipt(id, bench, under: changed) == before)
        }
    }

    @Test func `one of an earlier version says what is in force, and that it does`() async throws {
        let bench = try Bench()
        let id = try await Self.complete("alice", on: bench)
        let receipt = try await Self.receipt(id, bench, under: Self.target)
        #expect(receipt["configuration"]?.text == "in_force")
        #expect(receipt.compactText.contains("kept: tax"))
        let later = try await Self.receipt(id, bench, under: Self.files)
        #expect(!later.compactText.contains("kept: tax"))
    }

    @Test func `the document is read back as it was, and is the same for the same content`() throws
    {
        let scope = try Self.scope(Self.target + "\n" + Self.files)
        let document = try scope.document()
        #expect(try ErasureScope(document: document) == scope)
        #expect(try Self.scope(Self.target + "\n" + Self.files).document() == document)
        #expect(try Self.scope(Self.files + "\n" + Self.target).document() != document)
        #expect(!document.contains("canary"), "no place and no credential")
    }

    @Test func `a fence is a matter of each table, or of the whole store`() throws {
        let scope = try Self.scope(Self.target + "\n" + Self.files)
        let (tables, files) = (TargetName("app-db"), TargetName("uploads"))
        #expect(scope.target(tables)?.isFenced("posts") == true)
        #expect(scope.target(tables)?.isFenced("bills") == false)
        #expect(scope.target(files)?.isFenced("{user_id}") == true)
        #expect(scope.target(TargetName("gone")) == nil)
    }

    @Test func `what nobody owns any more has no fence`() throws {
        let scope = try Self.scope(
            Self.target + """

                [[target.key]]
                name = "team"
                table = "posts"
                column = "author"
                value = "team"
                shared = true
                """ + "\n" + Self.files + "\nkeyed_by = \"app-db.team\""
        )
        #expect(scope.target(TargetName("uploads"))?.isFenced("{user_id}") == false)
    }
}
