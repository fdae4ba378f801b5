import Control
import Encoding
import FoundationEssentials
import Lifecycle
import Testing

@testable import Daemon

/// The digest in the ledger is of a receipt without what is added later; the verifier has a list.
struct ReceiptMembersTests {
    private static let configuration = """
        [controller]
        name = "Example Apps"
        [[recipient]]
        name = "Analytics"
        [[store]]
        name = "uploads"
        kind = "files"
        root = "/srv/uploads"
        paths = ["{user_id}"]
        """

    /// The list of `docs/verify-ledger.py`.
    private static func later() throws -> Set<String> {
        let root = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
        let bytes = try Data(contentsOf: URL(filePath: root + "/docs/verify-ledger.py"))
        let text = String(decoding: bytes, as: UTF8.self)
        let line = text.firstMatch(of: /\nLATER = "([a-z_ ]+)"\n/)
        return Set(try #require(line).1.split(separator: " ").map(String.init))
    }

    /// Members of a statement that has everything; the store decides which horizon.
    private static func stated(_ store: String) throws -> Set<String> {
        var request = try Bench.request("uploads")
        request.phase = .completed
        request.purgeStartedAt = Bench.start
        request.endedAt = Bench.start
        request.purges[0].endedAt = Bench.start
        var approval = Approval()
        approval.state = .approved(
            PurgePlan(links: [], parts: [], hash: "plan"),
            by: Approval.Given(hash: "plan", at: Bench.start, by: 1),
            first: nil
        )
        request.approval = approval
        request.unreadSources = ["spool"]
        let scope = ErasureScope(try Bench.configuration(configuration + store), [:])
        let statement = ReceiptStatement(request: request, scope: scope)
        return Set(statement.members.map(\.name))
    }

    @Test func `the verifier leaves out each member that is added later, and no other`()
        async throws
    {
        let later = try Self.later()
        let stated = try Self.stated("").union(Self.stated("\nbackups_kept = \"1d\""))
        let documented = Set(ReceiptFields.fields.map(\.name))
        #expect(later == documented.subtracting(stated))
        #expect(stated.isSubset(of: documented))
        let bench = try Bench()
        try await bench.enforce(Self.configuration)
        let id = try await ErasureScopeTests.complete("alice", on: bench)
        let receipt = try await bench.backend(more: Self.configuration)
            .receipt(id, caller: Caller(role: .operator, uid: 0))
        let added = Set(receipt.members.map(\.name)).subtracting(stated)
        #expect(added.isSubset(of: later) && added.contains("summary"))
    }
}
