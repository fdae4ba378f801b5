import Control
import Encoding
import Lifecycle
import Settings
import Testing

@testable import Daemon

struct ErasureHorizonTests {
    private static let table = """
        [[store.table]]
        table = "t"
        column = "u"
        action = "delete"
        """

    private func horizon(
        _ kept: String,
        residualCopies: [PurgeCounts.ResidualCopies] = [],
        entries: [PurgeCounts.Entry] = []
    ) throws -> JSONValue {
        let configuration = try Bench.configuration(
            """
            [[store]]
            name = "app-db"
            kind = "sqlite"
            path = "/srv/app/app.db"
            \(kept)
            \(Self.table)
            """
        )
        var request = try Bench.request("app-db")
        request.purges[0].endedAt = Bench.start
        request.purges[0].counts = PurgeCounts(entries: entries, residualCopies: residualCopies)
        let scope = ErasureScope(configuration, [:])
        let statement = ReceiptStatement(request: request, scope: scope)
        return .object(statement.horizonOfAll + statement.horizon(of: request.purges[0]))
    }

    @Test func `a store that keeps backups has its horizon, and so has the receipt`() throws {
        let found = try horizon("backups_kept = \"30d\"")
        #expect(found["erasure_horizon"]?.string == "2027-02-14T08:00:00.000Z")
        #expect(found["backups_kept_until"]?.string == "2027-02-14T08:00:00.000Z")
    }

    @Test func `without a word about backups the horizon is not known`() throws {
        let found = try horizon("")
        #expect(found["erasure_horizon"] == nil)
        #expect(found["erasure_horizon_unknown"] == .array([.string("app-db")]))
    }

    @Test func `what the store itself keeps can be later, or of unknown end`() throws {
        let until = Bench.start + .seconds(90 * 86_400)
        let copy = PurgeCounts.ResidualCopies(text: "versions", until: until)
        let later = try horizon("backups_kept = \"0s\"", residualCopies: [copy])
        #expect(later["erasure_horizon"]?.string == until.rfc3339)
        let endless = PurgeCounts.ResidualCopies(text: "versions", until: nil)
        let unknown = try horizon("backups_kept = \"0s\"", residualCopies: [endless])
        #expect(unknown["erasure_horizon_unknown"] != nil)
    }

    @Test(
        arguments: [
            .passedOver(.spelledOtherwise), .notLookedFor, .withoutKeys, .unsearched("email"),
            .unreached("email", via: "users.email"),
        ] as [PurgeCounts.Action]
    )
    func `where data may be left, no time says that all of it is gone`(
        _ action: PurgeCounts.Action
    ) throws {
        let entry = PurgeCounts.Entry(name: "t", action: action, rowCount: 0)
        let found = try horizon("backups_kept = \"30d\"", entries: [entry])
        #expect(found["erasure_horizon"] == nil)
        #expect(found["erasure_horizon_unknown"] == .array([.string("app-db")]))
    }

    @Test func `a phrase of a kind stands with text, id and name; a text of the operator as it is`()
        throws
    {
        let cases: [(PurgeCounts.ResidualCopies.Content, JSONValue)] = [
            (.text("backups of the CRM"), ["what": "backups of the CRM"]),
            (
                .phrase("soft_deleted_objects", name: "uploads"),
                [
                    "what": "soft-deleted objects of bucket 'uploads'",
                    "phrase": "soft_deleted_objects", "name": "uploads",
                ]
            ),
            (
                .phrase("unknown_replicas", name: nil),
                ["what": "rows on replicas, if there are any", "phrase": "unknown_replicas"]
            ),
            (.phrase("of_later", name: nil), ["what": "of_later", "phrase": "of_later"]),
        ]
        for (content, member) in cases {
            let copy = PurgeCounts.ResidualCopies(content, until: nil)
            let found = try horizon("", residualCopies: [copy])
            #expect(found["residual_copies"] == .array([member]))
        }
    }
}
