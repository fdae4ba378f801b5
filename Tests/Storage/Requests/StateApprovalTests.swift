import Engine
import Lifecycle
import Testing

@testable import Storage

@Suite(.onEachDatabase)
struct StateApprovalTests {
    private static let link = PurgePlan.Link(
        identity: IdentityID(StateFixture.newID()),
        provider: ProviderName("apple"),
        clientID: "com.example.app"
    )

    private static func plan(_ count: Int) -> PurgePlan {
        let kept = PlanItem(
            name: "bills \"é\"",
            action: .keep,
            reason: "tax",
            count: count,
            isBounded: true,
            newerCount: 2,
            undatedCount: 1
        )
        let bare = PlanItem(name: "likes", action: .delete, count: 3, hasNoTimestamps: true)
        return PurgePlan(
            links: [link],
            parts: [
                PurgePlan.Part(
                    store: StoreName("app-db"),
                    items: [kept, bare],
                    rules: [PurgePlan.Rule(key: "store", value: "path = \"/é\"")]
                ),
                PurgePlan.Part(store: StoreName("cache"), items: nil),
            ],
            hash: "\(count)"
        )
    }

    private static let first = Approval.Given(hash: "7", at: StateFixture.start, by: 17)

    private static var approval: Approval {
        var approval = Approval()
        approval.state = .approved(
            plan(7),
            by: Approval.Given(hash: "7", at: StateFixture.start, by: 4_294_967_290),
            first: first
        )
        approval.earlier = plan(6)
        approval.failures = 3
        approval.retryAt = StateFixture.start + .seconds(5)
        approval.lastFailure = "unreachable"
        return approval
    }

    @Test func `an approval is read back as it was written, and survives the end`() async throws {
        let fixture = try StateFixture()
        let loaded = try await fixture.open("alice")
        var now = loaded.request
        now.approval = Self.approval
        now.approval?.planning = .underWay(asked: [], isStale: false)
        try await fixture.save(now, was: loaded.request)
        let read = try #require(try await fixture.database.openRequests([now.id]).first)
        #expect(read.request.approval == Self.approval)
        #expect(read.request.submittedBy == nil)
        var ended = read.request
        ended.phase = .cancelled
        ended.endedAt = StateFixture.start
        ended.dueAt = nil
        try await fixture.save(ended, was: read.request)
        let record = try #require(try await fixture.database.requestRecord(now.id))
        #expect(record.request.approval == Self.approval)
    }

    @Test func `who handed a request in is kept, and a spool row names nobody`() async throws {
        let fixture = try StateFixture()
        var submission = StateFixture.submission("bob")
        submission.operatorUID = 1000
        _ = try await fixture.accept(submission)
        let id = try #require(
            try await fixture.database.requestRecords(RequestFilter(), cursor: nil, limit: 1)
                .records
                .first?.request.id
        )
        let read = try #require(try await fixture.database.openRequests([id]).first)
        #expect(read.request.submittedBy == 1000)
        #expect(read.request.approval == nil)
        #expect(!read.request.isAnonymous)
    }

    @Test(arguments: [true, false])
    func `a spool row and a hidden peer are known to be anybody's, also when read again`(
        _ isSpool: Bool
    ) async throws {
        let fixture = try StateFixture()
        let row = SpoolRow(spoolID: "s", rowID: 1, fingerprint: StateFixture.hash("dora"))
        var submission = StateFixture.submission("dora")
        if isSpool {
            submission = StateFixture.submission("dora", origin: .spool(row))
        } else {
            submission.isAnonymous = true
        }
        guard case .accepted(let loaded, _) = try await fixture.accept(submission)[0] else {
            Issue.record("not accepted")
            return
        }
        #expect(loaded.request.isAnonymous)
        let read = try #require(
            try await fixture.database.openRequests([loaded.request.id]).first
        )
        #expect(read.request.isAnonymous)
    }

    @Test func `every approval and every one that is taken away has its leaf`() async throws {
        let fixture = try StateFixture()
        let loaded = try await fixture.open("carol")
        var begun = loaded.request
        begun.approval = Self.approval
        begun.approval?.state = .shown(Self.plan(7), first: Self.first)
        try await fixture.save(begun, was: loaded.request)
        var approved = begun
        approved.approval = Self.approval
        try await fixture.save(approved, was: begun)
        var changed = approved
        changed.approval?.state = .shown(Self.plan(8), first: nil)
        try await fixture.save(changed, was: approved)
        let leaves = try await fixture.database.ledgerRows(from: 0).flatMap(\.leaves).map {
            String(decoding: $0, as: UTF8.self)
        }
        #expect(leaves.contains { $0.contains("\"approved\"") && $0.contains("\"uid\":17}") })
        #expect(leaves.contains { $0.contains("\"approved\"") && $0.contains("4294967290") })
        #expect(leaves.contains { $0.contains("\"plan_changed\"") && $0.contains("\"8\"") })
    }
}
