import Lifecycle
import Testing

struct ApprovalTests {
    /// A deletion by an operator that waits for the approval of its plan.
    private func waiting(_ plan: PurgePlan = Sample.plan()) throws -> Machine {
        var machine = Machine()
        machine.request.submittedBy = Sample.submitter
        machine.environment.isApprovalRequired = true
        try machine.send(.due)
        try machine.send(.planned(.made(plan)))
        return machine
    }

    @Test func `nothing is revoked before somebody else approved the plan`() throws {
        var machine = Machine()
        machine.request.submittedBy = Sample.submitter
        machine.environment.isApprovalRequired = true
        #expect(try machine.send(.due) == [.plan])
        #expect(machine.request.isBusy)
        let shown = try machine.send(.planned(.made(Sample.plan())))
        #expect(shown == [.announce(.parked(.awaitingApproval))])
        #expect(machine.request.dueAt == nil)
        #expect(throws: OperationRefusal.sameOperator) {
            try machine.send(.approve(Sample.plan().hash, by: Sample.submitter))
        }
        #expect(throws: OperationRefusal.planChanged) {
            try machine.send(.approve("another", by: Sample.approver))
        }
        let approved = try machine.send(.approve(Sample.plan().hash, by: Sample.approver))
        #expect(approved == [.announce(.approved), .check, .announce(.resumed)])
        #expect(machine.request.approval?.given?.by == Sample.approver)
    }

    @Test func `a request of nobody needs the word of two operators for one plan`() throws {
        var machine = Machine()
        machine.request.isAnonymous = true
        machine.environment.isApprovalRequired = true
        try machine.send(.due)
        try machine.send(.planned(.made(Sample.plan())))
        let (first, second) = (Sample.submitter, Sample.approver)
        let hash = Sample.plan().hash
        #expect(try machine.send(.approve(hash, by: first)) == [.announce(.approved)])
        #expect(machine.request.phase.parkReason == .awaitingApproval)
        #expect(throws: OperationRefusal.sameOperator) {
            try machine.send(.approve(hash, by: first))
        }
        // Another plan has neither word.
        try machine.send(.retry)
        let changed = try machine.send(.planned(.made(Sample.plan(rows: 2))))
        #expect(machine.request.approval?.latest == nil, "\(changed)")
        let new = Sample.plan(rows: 2).hash
        try machine.send(.approve(new, by: second))
        #expect(try machine.send(.approve(new, by: first)).contains(.check))
        #expect(machine.request.approval?.first?.by == second)
        #expect(machine.request.approval?.given?.by == first)
        #expect(try machine.send(.approve(new, by: first)) == [])
    }

    @Test func `the purge runs only when the plan is made again and equal`() throws {
        var machine = try waiting()
        try machine.send(.approve(Sample.plan().hash, by: Sample.approver))
        try machine.answer(check: .live)
        #expect(try machine.answer(revoke: .success).contains(.plan))
        #expect(machine.request.purgeStartedAt == nil)
        let effects = try machine.send(.planned(.made(Sample.plan())))
        #expect(effects == [.announce(.purgeStarted), .purge(Sample.database)])
    }

    @Test func `a plan that changed is shown beside the approved one and asks again`() throws {
        var machine = try waiting()
        try machine.send(.approve(Sample.plan().hash, by: Sample.approver))
        try machine.revokeApproved()
        let changed = try machine.send(.planned(.made(Sample.plan(rows: 5))))
        #expect(changed == [.announce(.planChanged), .announce(.parked(.awaitingApproval))])
        #expect(machine.request.phase.stage == .purging)
        let approval = try #require(machine.request.approval)
        let earlier = try #require(approval.earlier)
        let change = try #require(approval.plan?.changes(since: earlier).first)
        #expect(change.was?.count == 1 && change.now?.count == 5 && !change.isNew)
        // What is shown is read again, and the approved plan stays what it is compared with.
        #expect(try machine.send(.retry).contains(.plan))
        try machine.send(.planned(.made(Sample.plan(rows: 6))))
        #expect(machine.request.approval?.earlier == Sample.plan())
        #expect(throws: OperationRefusal.planChanged) {
            try machine.send(.approve(Sample.plan(rows: 5).hash, by: Sample.approver))
        }
        try machine.send(.approve(Sample.plan(rows: 6).hash, by: Sample.approver))
        let effects = try machine.send(.planned(.made(Sample.plan(rows: 6))))
        #expect(effects.contains(.purge(Sample.database)))
    }

    @Test func `a confirmation counts for one decision only`() throws {
        var machine = try waiting()
        try machine.send(.approve(Sample.plan().hash, by: Sample.approver))
        try machine.revokeApproved()
        try machine.send(.hold)
        try machine.send(.planned(.made(Sample.plan())))
        #expect(machine.request.purgeStartedAt == nil)
        #expect(try machine.send(.release) == [.plan, .announce(.resumed)])
    }

    @Test func `a newly learned identity takes the approval away`() throws {
        var machine = try waiting()
        try machine.send(.approve(Sample.plan().hash, by: Sample.approver))
        let second = IdentityID(TimeOrderedID(high: 1, low: 2))
        let update = try machine.send(.identityChanged([Sample.snapshot(identity: second)]))
        #expect(update.first == .announce(.planChanged) && update.contains(.plan))
        // The plan without it decides nothing any more.
        #expect(try machine.send(.planned(.made(Sample.plan()))) == [.plan])
        let plan = Sample.plan(rows: 1, links: machine.request.links)
        try machine.send(.planned(.made(plan)))
        #expect(machine.request.phase.parkReason == .awaitingApproval)
        let earlier = try #require(machine.request.approval?.earlier)
        #expect(plan.changes(since: earlier).map(\.isNew) == [true])
    }

    @Test func `turned on it stops a deletion whose purge has not begun`() throws {
        var machine = Machine()
        try machine.send(.due)
        machine.environment.isApprovalRequired = true
        // The call under way is heard; the next one is not made.
        #expect(try machine.answer(check: .live) == [.plan])
        try machine.send(.planned(.made(Sample.plan())))
        #expect(machine.request.phase.parkReason == .awaitingApproval)
        machine.environment.isApprovalRequired = false
        #expect(try machine.send(.due) == [.revoke, .announce(.resumed)])
        try machine.answer(revoke: .success)
        machine.environment.isApprovalRequired = true
        #expect(try machine.answer(purge: .done(PurgeCounts())) == [.verify(Sample.database)])
    }

    @Test func `a store that cannot be asked delays the plan and changes nothing else`() throws {
        var machine = Machine()
        machine.environment.isApprovalRequired = true
        try machine.send(.due)
        try machine.send(.planned(.failure(Sample.database, .unreachable)))
        #expect(machine.request.phase == .open(.revoking) && !machine.request.isBusy)
        #expect(machine.request.approval?.lastFailure == "unreachable")
        #expect(try machine.sendDue() == [.plan])
        let broken = try machine.send(.planned(.failure(Sample.database, .misconfigured)))
        #expect(broken == [.pauseStore(Sample.database), .announce(.parked(.storePaused))])
        #expect(try machine.send(.due) == [.plan, .announce(.resumed)])
        try machine.send(.postponed(.plan, until: machine.now + .seconds(9)))
        #expect(machine.request.dueAt == machine.now + .seconds(9))
    }

    @Test func `a revocation alone needs no approval`() throws {
        var machine = Machine(.revokeTokens)
        machine.environment.isApprovalRequired = true
        #expect(try machine.send(.due) == [.check])
        #expect(throws: OperationRefusal.noPlan) {
            try machine.send(.approve(Sample.plan().hash, by: Sample.approver))
        }
    }

    @Test func `no two plans share a text`() {
        func text(_ items: [PlanItem]?, user: [UInt8] = [1, 2]) -> String {
            PurgePlan.canonicalText(
                of: Sample.plan().links,
                [PurgePlan.Part(store: Sample.database, items: items)],
                user: user
            )
        }
        let item = PlanItem(name: "posts", action: .keep, reason: "tax", count: 3)
        let others: [[PlanItem]?] = [
            nil, [], [item, item],
            [PlanItem(name: "posts", action: .keep, reason: "tax", count: 4)],
            [PlanItem(name: "posts", action: .keep, reason: "tax", count: 3, isBounded: true)],
            [PlanItem(name: "posts", action: .keep, count: 3)],
            [PlanItem(name: "post", action: .keep, reason: "tax", count: 3)],
            [PlanItem(name: "posts", action: .delete, reason: "tax", count: 3)],
        ]
        let texts = others.map { text($0) } + [text([item]), text([item], user: [1, 3])]
        #expect(Set(texts).count == texts.count)
        // What the cutoff leaves alone changes nothing of what would be done.
        let newer = PlanItem(
            name: "posts",
            action: .keep,
            reason: "tax",
            count: 3,
            newerCount: 9,
            undatedCount: 2,
            hasNoTimestamps: true
        )
        #expect(text([newer]) == text([item]))
    }
}
