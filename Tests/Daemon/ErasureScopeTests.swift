import Control
import Encoding
import Engine
import Ledger
import Lifecycle
import Settings
import Storage
import Testing

@testable import Daemon

struct ErasureScopeTests {
    private static let store = """
        [[store]]
        name = "app-db"
        kind = "postgresql"
        conninfo_credential = "canary-conninfo"
        backups_kept = "30d"
        [[store.table]]
        table = "posts"
        column = "author"
        action = "delete"
        created_at_column = "made"
        created_at_unit = "timestamp"
        [[store.table]]
        table = "bills"
        column = "buyer"
        action = "keep"
        keep_reason = "tax <law> & \\"more\\""
        """
    private static let files = """
        [[store]]
        name = "uploads"
        kind = "files"
        root = "/srv/canary"
        paths = ["{user_id}"]
        """
    private static let parties = """
        [controller]
        name = "Example Apps"
        [[recipient]]
        name = "Analytics"
        contact = "dpo@analytics.example"
        """
    private static let canonical = #"""
        {"accepted_at":"2027-01-15T08:00:00.000Z","completed_at":"2027-01-15T08:00:00.000Z","cre\#
        ated_at":"2027-01-15T08:00:00.000Z","erasure_horizon_unknown":["uploads"],"identities":[\#
        ],"kind":"delete_account","not_erased":[{"columns":["buyer"],"name":"tax <law> & \"more\#
        \"","phrase":"keep","reason":"kept: tax <law> & \"more\"","rows":2,"store":"app-db","tab\#
        le":"bills"},{"phrase":"newer","reason":"newer than the request, or of unreadable time\#
        : they may belong to a later life of the account","rows":1,"store":"app-db","table":"pos\#
        ts"}],"not_in_scope":["stores that are not configured in this service","data that was ha\#
        nded to others, also by the providers named here","backups and copies of a store, unti\#
        l its erasure horizon","this receipt, the keyed hash of the user id that keeps the erasu\#
        re through a restore, and the entries of the ledger, none of which names the user"],"sta\#
        te":"completed","stores":[{"backups_kept_until":"2027-02-14T08:00:00.000Z","erasure_hori\#
        zon":"2027-02-14T08:00:00.000Z","store":"app-db","tables":[{"action":"delete","cutoff":"\#
        2027-01-15T08:00:00.000Z","newer_rows":1,"rows":3,"table":"posts"},{"action":"keep","cut\#
        off":"none","detail":"tax <law> & \"more\"","newer_rows":0,"rows":2,"table":"bills"}],"v\#
        erified":true,"verified_at":"2027-01-15T08:00:00.000Z"},{"store":"uploads","tables":[{"a\#
        ction":"delete","cutoff":"2027-01-15T08:00:00.000Z","newer_rows":0,"rows":1,"table":"{us\#
        er_id}"}],"verified":true,"verified_at":"2027-01-15T08:00:00.000Z"}]}
        """#
    private static let caller = Caller(role: .operator, uid: 0)

    private static func scope(_ text: String) throws -> ErasureScope {
        ErasureScope(try Bench.configuration(text), [:])
    }

    /// Completes a deletion as the engine's last commit does.
    static func complete(
        _ user: String,
        on bench: Bench,
        isBroken: Bool = false,
        isNewer: Bool = false,
        entries: [PurgeCounts.Entry] = []
    ) async throws -> RequestID {
        let stores = [StoreName("app-db"), StoreName("uploads")]
        let loaded = try await bench.submit(user, stores: stores, at: Bench.start)
        var done = loaded.request
        for index in done.purges.indices {
            done.purges[index].step = .verified
            done.purges[index].endedAt = Bench.start
        }
        let bill = PurgeCounts.Details(reason: "tax <law> & \"more\"")
        done.purges[0].counts.entries = [
            .init(name: "posts", action: .rule(.delete), rowCount: 3, newerCount: 1),
            .init(name: "bills", action: .rule(.keep, bill), rowCount: 2),
        ]
        if !entries.isEmpty { done.purges[0].counts.entries = entries }
        if isBroken { done.purges[0].counts.restore(isPassOpen: false, isAtLeast: true) }
        done.purges[1].counts.entries = [
            .init(
                name: "{user_id}",
                action: .rule(.delete),
                rowCount: isNewer ? 0 : 1,
                newerCount: isNewer ? 1 : 0
            )
        ]
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
        let whole = [Self.parties, Self.store, Self.files].joined(separator: "\n")
        try await bench.state.enforce(scope: Self.scope(whole).document())
        let id = try await Self.complete("alice", on: bench)
        let before = try await Self.receipt(id, bench, under: whole)
        let text = before.compactText
        #expect(text.contains("kept: tax <law>"))
        #expect(text.contains("backups_kept_until"))
        #expect(text.contains("\"erasure_horizon_unknown\":[\"uploads\"]"))
        let controller: JSONValue = ["name": "Example Apps"]
        #expect(before["controller"] == controller)
        let recipient: JSONValue = ["name": "Analytics", "contact": "dpo@analytics.example"]
        #expect(before["recipients"] == .array([recipient]))
        let others = [("30d", "90d"), ("Example", "New"), ("Analytics", "Statistics")].map {
            whole.replacing($0, with: $1)
        }
        for changed in ["", Self.files] + others {
            try await bench.state.enforce(scope: Self.scope(changed).document())
            #expect(try await Self.receipt(id, bench, under: changed) == before)
        }
    }

    @Test func `without a record of what was in force there is no receipt`() async throws {
        let bench = try Bench()
        let id = try await Self.complete("alice", on: bench)
        await #expect(throws: ControlProblem.self) {
            try await Self.receipt(id, bench, under: Self.parties + "\n" + Self.store)
        }
    }

    @Test func `the summary claims no erasure where everything was left as newer`() async throws {
        let bench = try Bench()
        let whole = Self.store + "\n" + Self.files
        try await bench.enforce(whole)
        for isNewer in [false, true] {
            let id = try await Self.complete("user-\(isNewer)", on: bench, isNewer: isNewer)
            let receipt = try await Self.receipt(id, bench, under: whole)
            let summary = try #require(receipt["summary"]?.string)
            let erased = isNewer ? "erased from 'app-db' as" : "erased from 'app-db', 'uploads' as"
            #expect(summary.contains(erased))
            #expect(summary.contains("NOTHING was erased from 'uploads'") == isNewer)
        }
    }

    @Test func `the ledger has the digest of what was completed, and its text stays as it is`()
        async throws
    {
        let bench = try Bench()
        let scope = try Self.scope(Self.store + "\n" + Self.files)
        try await bench.state.enforce(scope)
        let id = try await Self.complete("alice", on: bench)
        let record = try #require(try await bench.state.requestRecord(id))
        let statement = ReceiptStatement(request: record.request, scope: scope)
        let leaf = try #require(try await bench.state.ledgerRows(from: 0).last?.leaves.last)
        let digest = Base64URL.text(statement.digest)
        #expect(String(decoding: leaf, as: UTF8.self).contains(#""receipt":"\#(digest)""#))
        // Another text makes every receipt of before disagree with the ledger.
        let text = String(
            decoding: JSONValue.object(statement.members).canonicalBytes,
            as: UTF8.self
        )
        #expect(text == Self.canonical)
    }

    /// One of each action, each with texts that look like those of others.
    private static var everyEntry: [PurgeCounts.Entry] {
        let texts = ["still has other owners", "tax, undated rows", "a\" via [b]\n\u{1}", "\u{e4}"]
        let rules = texts.flatMap { text -> [PurgeCounts.Action] in
            let details = PurgeCounts.Details(parent: text, reason: text, part: text)
            return [
                .unreached(text, via: text), .unsearched(text), .rule(.delete, details),
                .rule(.anonymize, details).of(.undated), .rule(.keep, details).of(.noSuchID),
                .rule(.keep, PurgeCounts.Details(reason: text, hasNoTimestamps: true)),
            ]
        }
        let fixed: [PurgeCounts.Action] = [.held, .shared, .notLookedFor, .withoutKeys, .accepted]
        let all = fixed + ReceiptSentence.allCases.map { .passedOver($0) } + rules
        return all.map { .init(name: "bills", action: $0, rowCount: 2, newerCount: 1) }
    }

    @Test func `the digest of each action is the same when the state is read again`() async throws {
        let bench = try Bench()
        let scope = try Self.scope(Self.store + "\n" + Self.files)
        try await bench.state.enforce(scope)
        let id = try await Self.complete("alice", on: bench, entries: Self.everyEntry)
        let record = try #require(try await bench.state.requestRecord(id))
        #expect(record.request.purges[0].counts.entries == Self.everyEntry)
        let digest = ReceiptStatement(request: record.request, scope: scope).digest
        let leaf = try #require(try await bench.state.ledgerRows(from: 0).last?.leaves.last)
        let text = #""receipt":"\#(Base64URL.text(digest))""#
        #expect(String(decoding: leaf, as: UTF8.self).contains(text))
    }

    @Test func `counts of a purge that broke off are told to be the least`() async throws {
        let bench = try Bench()
        try await bench.enforce(Self.store)
        let id = try await Self.complete("alice", on: bench, isBroken: true)
        let receipt = try await Self.receipt(id, bench, under: Self.store).compactText
        #expect(receipt.contains("\"counts\":\"at_least\",\"tables\":[{\"table\":\"posts\""))
        #expect(receipt.split(separator: "at_least").count == 2, "not of the other store")
    }

    @Test(
        arguments: [
            .notLookedFor, .passedOver(.spelledOtherwise), .unreached("email", via: "users.email"),
        ] as [PurgeCounts.Action]
    )
    func `a report says as the receipt does why a store was not looked for`(
        _ action: PurgeCounts.Action
    ) async throws {
        let bench = try Bench()
        try await bench.enforce(Self.store)
        let entry = PurgeCounts.Entry(name: "posts", action: action, rowCount: 0)
        let id = try await Self.complete("alice", on: bench, entries: [entry])
        let receipt = try await Self.receipt(id, bench, under: Self.store)
        let reason = try #require(receipt["stores"]?.array?.first?["not_looked_for"]?.string)
        let month = try #require(CalendarMonth("2027-01"))
        let backend = try bench.backend(more: Self.store)
        let kept = try await backend.report(month, timeZone: nil, caller: Self.caller).kept
        let found = kept.filter { $0.store == "app-db" && $0.table.isEmpty }
        #expect(found.map(\.reason) == [reason] && found.map(\.requests) == [1])
    }

    @Test func `a store that came too late for a deletion is named`() async throws {
        let bench = try Bench()
        let late = Self.files.replacing("\"uploads\"", with: "\"late\"")
        let whole = [Self.store, Self.files, late].joined(separator: "\n")
        let scope = try Self.scope(whole)
        try await bench.state.enforce(scope: scope.document())
        let id = try await Self.complete("alice", on: bench)
        let receipt = try await Self.receipt(id, bench, under: whole).compactText
        #expect(receipt.contains("not_in_scope\":[\"the store 'late': it was configured when the"))
        #expect(receipt.contains("NOT erased from 'late'"))
    }

    @Test func `the document is read back as it was, and is the same for the same content`() throws
    {
        let scope = try Self.scope(Self.store + "\n" + Self.files)
        let document = try scope.document()
        #expect(try ErasureScope(document: document) == scope)
        #expect(try Self.scope(Self.store + "\n" + Self.files).document() == document)
        #expect(try Self.scope(Self.files + "\n" + Self.store).document() != document)
        #expect(!document.contains("canary"), "no place and no credential")
    }

    @Test func `a cutoff is a matter of each table, or of the whole store`() throws {
        let scope = try Self.scope(Self.store + "\n" + Self.files)
        let (tables, files) = (StoreName("app-db"), StoreName("uploads"))
        #expect(scope.store(tables)?.hasTimestamps("posts") == true)
        #expect(scope.store(tables)?.hasTimestamps("bills") == false)
        #expect(scope.store(files)?.hasTimestamps("{user_id}") == true)
        #expect(scope.store(StoreName("gone")) == nil)
    }

    @Test(
        arguments: [
            ("posts", "posts"), ("public.posts", "posts"), ("posts", "crm.posts"),
            ("crm.posts", "crm.posts"),
        ]
    )
    func `a table is known by the name of the database, however it is configured`(
        configured: String,
        live: String
    ) throws {
        let text = Self.store.replacing("\"posts\"", with: "\"\(configured)\"")
        let scope = try Self.scope(
            text.replacing("backups_kept", with: "schemas = [\"public\", \"crm\"]\nbackups_kept")
        )
        let store = try #require(scope.store(StoreName("app-db")))
        #expect(store.hasTimestamps(live))
        for other in ["Posts", "other.posts", "bills"] { #expect(!store.hasTimestamps(other)) }
    }

    @Test func `of two tables of one name each has its own cutoff`() throws {
        let both = """

            [[store.table]]
            table = "crm.posts"
            column = "author"
            action = "delete"
            """
        let scope = try Self.scope(
            Self.store.replacing(
                "backups_kept",
                with: "schemas = [\"public\", \"crm\"]\nbackups_kept"
            ) + both
        )
        #expect(scope.store(StoreName("app-db"))?.hasTimestamps("posts") == true)
        #expect(scope.store(StoreName("app-db"))?.hasTimestamps("crm.posts") == false)
    }

    @Test func `a receipt counts what is kept under the name of the database`() async throws {
        let bench = try Bench()
        let text = Self.store.replacing("\"postgresql\"", with: "\"sqlite\"")
            .replacing("conninfo_credential = \"canary-conninfo\"", with: "path = \"/srv/a.db\"")
            .replacing("\"timestamp\"", with: "\"unix_s\"")
            .replacing("\"posts\"", with: "\"Posts\"").replacing("\"bills\"", with: "\"BILLS\"")
        try await bench.state.enforce(scope: Self.scope(text + "\n" + Self.files).document())
        let id = try await Self.complete("alice", on: bench)
        let receipt = try await Self.receipt(id, bench, under: text)
        let cutoff = Bench.start.rfc3339
        let said = receipt.compactText
        #expect(said.contains("\"rows\":3,\"newer_rows\":1,\"cutoff\":\"\(cutoff)\""))
        let kept = "\"table\":\"bills\",\"columns\":[\"buyer\"],\"rows\":2,\"reason\":\"kept: tax"
        #expect(said.contains(kept))
    }

    @Test func `what nobody owns any more has no cutoff`() throws {
        let scope = try Self.scope(
            Self.store + """

                [[store.key]]
                name = "team"
                table = "posts"
                column = "author"
                value = "team"
                shared = true
                """ + "\n" + Self.files + "\nkeyed_by = \"app-db.team\""
        )
        #expect(scope.store(StoreName("uploads"))?.hasTimestamps("{user_id}") == false)
    }
}
