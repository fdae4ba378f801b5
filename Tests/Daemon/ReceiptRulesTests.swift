import Control
import Encoding
import Lifecycle
import Storage
import Testing

@testable import Daemon

/// Receipts of tables that several rules name.
struct ReceiptRulesTests {
    private static func rule(
        _ column: String,
        _ action: String,
        _ reason: String? = nil,
        isDated: Bool = false
    ) -> String {
        let lines = [
            "[[store.table]]", "table = \"documents\"", "column = \"\(column)\"",
            "action = \"\(action)\"", reason.map { "keep_reason = \"\($0)\"" },
            action == "anonymize" ? "set = { \(column) = { strategy = \"null\" } }" : nil,
            isDated ? "created_at_column = \"at\"\ncreated_at_unit = \"timestamp\"" : nil,
        ]
        return lines.compactMap(\.self).joined(separator: "\n")
    }

    /// Masks another column than the one that leads to the user.
    private static let masksOther = """
        [[store.table]]
        table = "documents"
        column = "author"
        action = "anonymize"
        keep_reason = "team"
        set = { title = { strategy = "null" } }
        """

    private static func receipt(
        _ rules: [String],
        _ entries: [PurgeCounts.Entry]
    ) async throws -> JSONValue {
        let store = """
            [[store]]
            name = "app-db"
            kind = "postgresql"
            conninfo_credential = "canary-conninfo"
            """
        let text = ([store] + rules).joined(separator: "\n\n")
        let bench = try Bench()
        try await bench.enforce(text)
        let id = try await ErasureScopeTests.complete("alice", on: bench, entries: entries)
        let caller = Caller(role: .operator, uid: 0)
        return try await bench.backend(more: text).receipt(id, caller: caller)
    }

    private static func entry(
        _ verb: PlanItem.Action,
        _ reason: String? = nil,
        _ rowCount: Int = 1,
        hasNoTimestamps: Bool = false,
        of rows: PurgeCounts.Details.Rows = .all
    ) -> PurgeCounts.Entry {
        let details = PurgeCounts.Details(
            reason: reason,
            hasNoTimestamps: hasNoTimestamps,
            rows: rows
        )
        return .init(name: "documents", action: .rule(verb, details), rowCount: rowCount)
    }

    private static func left(
        _ rules: [String],
        _ entries: [PurgeCounts.Entry]
    ) async throws -> [String] {
        let receipt = try await receipt(rules, entries)
        let items = try #require(receipt["not_erased"]?.array)
        return items.map { "\($0["reason"]?.string ?? "") \($0["rows"]?.compactText ?? "")" }
    }

    @Test func `each reason has the rows of its own rules`() async throws {
        let rules = [
            Self.rule("author", "anonymize", "team"), Self.rule("editor", "anonymize", "team"),
            Self.rule("reader", "anonymize", "team, body"), Self.rule("owner", "keep", "tax"),
        ]
        let left = try await Self.left(
            rules,
            [
                Self.entry(.anonymize, "team", 2, hasNoTimestamps: true),
                Self.entry(.anonymize, "team", 3), Self.entry(.anonymize, "team", 1, of: .undated),
                Self.entry(.anonymize, "team, body", 7), Self.entry(.keep, "tax", 5),
                Self.entry(.delete, nil, 9),
            ]
        )
        #expect(left == ["anonymized: team 6", "anonymized: team, body 7", "kept: tax 5"])
    }

    @Test func `the columns that lead to the user still are named with their rows`() async throws {
        let rules = [
            Self.masksOther, Self.rule("editor", "anonymize", "team"),
            Self.rule("owner", "keep", "tax"), Self.rule("buyer", "keep", "tax"),
            Self.rule("reader", "anonymize", "list"), Self.rule("sender", "delete"),
        ]
        let entries = [
            Self.entry(.anonymize, "team"), Self.entry(.keep, "tax"),
            Self.entry(.anonymize, "list"), Self.entry(.delete),
        ]
        let items = try #require(try await Self.receipt(rules, entries)["not_erased"]?.array)
        let reasons = ["anonymized: team", "kept: tax", "anonymized: list"]
        #expect(items.compactMap { $0["reason"]?.string } == reasons)
        #expect(items.map { $0["columns"] } == [["author"], ["buyer", "owner"], nil])
    }

    @Test func `rows under a reason that a reload changed are counted once`() async throws {
        let (masks, others) = (
            Self.rule("author", "anonymize", "team"), Self.rule("editor", "anonymize", "other")
        )
        let keeps = Self.rule("owner", "keep", "tax")
        let masked = try await Self.left(
            [masks, others],
            [
                Self.entry(.anonymize, "before", 3), Self.entry(.anonymize, "team", 1),
                Self.entry(.anonymize, "other", 2),
            ]
        )
        #expect(masked == ["anonymized: team 4", "anonymized: other 2"])
        let taxed = Self.entry(.keep, "tax", 4)
        for verb in [PlanItem.Action.anonymize, .keep] {
            let left = try await Self.left([keeps], [Self.entry(verb, "before", 3), taxed])
            #expect(left == ["kept: tax 4"])
        }
        let kept = try await Self.left([masks], [Self.entry(.keep, "before", 3)])
        #expect(kept == ["anonymized: team 3"])
    }

    @Test func `a rule without a creation time has no cutoff beside one that has`() async throws {
        let receipt = try await Self.receipt(
            [Self.rule("author", "delete", isDated: true), Self.rule("editor", "delete")],
            [
                Self.entry(.delete), Self.entry(.delete, hasNoTimestamps: true),
                Self.entry(.delete, hasNoTimestamps: true, of: .noSuchID),
            ]
        )
        let tables = try #require(receipt["stores"]?.array?.first?["tables"]?.array)
        #expect(tables.map { $0["cutoff"]?.string } == [Bench.start.rfc3339, "none", "none"])
    }

    @Test func `newer rows under a rule that keeps are listed apart`() async throws {
        let receipt = try await Self.receipt(
            [Self.rule("owner", "keep", "tax", isDated: true)],
            [
                .init(
                    name: "documents",
                    action: .rule(.keep, PurgeCounts.Details(reason: "tax")),
                    rowCount: 2,
                    newerCount: 3
                )
            ]
        )
        let items = try #require(receipt["not_erased"]?.array)
        #expect(items.map { $0["rows"] } == [2, 3])
        #expect(items[1]["reason"]?.string?.hasPrefix("newer than the request") == true)
        let table = try #require(receipt["stores"]?.array?.first?["tables"]?.array?.first)
        #expect(table["newer_rows"] == 3)
        // What was to go is another matter.
        let summary = try #require(receipt["summary"]?.string)
        #expect(!summary.contains("NOTHING was erased from 'app-db'"))
    }

    @Test func `a store that an operator gave up is named as not erased`() async throws {
        let receipt = try await Self.receipt(
            [Self.rule("author", "delete")],
            [
                .init(
                    name: "app-db",
                    action: .passedOver(.spelledOtherwise),
                    rowCount: 0
                )
            ]
        )
        let store = try #require(receipt["stores"]?.array?.first)
        #expect(store["verified"] == false && store["verified_at"] == nil)
        let reason = ReceiptSentence.spelledOtherwise.text
        #expect(store["not_looked_for"]?.string == reason)
        #expect(receipt["not_erased"]?.array?.map { $0["reason"]?.string } == [reason])
        let summary = try #require(receipt["summary"]?.string)
        #expect(summary.contains("NOT erased from 'app-db', or only in part: an operator gave up"))
        #expect(!summary.contains("The user's data was erased from 'app-db'"))
    }

    @Test func `a second abandon keeps who gave up before, and why`() {
        let first = AbandonNote(uid: 1001, reason: "the provider closed")
        #expect(first.following(nil) == first && first.following(first) == first)
        let second = AbandonNote(uid: 1002, reason: "no such row").following(first)
        #expect(second.uid == 1002)
        #expect(second.reason == "no such row (before that, uid 1001: the provider closed)")
        #expect(AbandonNote(text: second.text) == second)
    }

    @Test func `a rule to whose rows nothing led is named, and its store is not verified`()
        async throws
    {
        let action = PurgeCounts.Action.unreached("email", via: "users.email")
        let receipt = try await Self.receipt(
            [Self.rule("author", "delete")],
            [
                .init(name: "documents", action: .rule(.delete), rowCount: 2),
                .init(name: "documents", action: action, rowCount: 0),
            ]
        )
        let store = try #require(receipt["stores"]?.array?.first)
        #expect(store["verified"] == false && store["verified_at"] == nil)
        let rule = "documents (email via users.email)"
        #expect(
            store["not_looked_for"]?.string
                == "no row of the user led there, or looking took too long: \(rule)"
        )
        let summary = try #require(receipt["summary"]?.string)
        #expect(
            summary.contains(
                "since no row of the user led there, or looking took too long: \(rule)."
            )
        )
        #expect(summary.contains("Erased from 'app-db' only in part."))
        #expect(!summary.contains("no key led there"))
        let tables = try #require(store["tables"]?.array)
        #expect(tables.map { $0["action"] } == ["delete", "unreached"])
        #expect(tables.map { $0["detail"] } == [nil, "email via users.email"])
        #expect(receipt["not_erased"]?.array == [])
    }
}
