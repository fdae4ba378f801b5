import Lifecycle
import Testing

/// Every store's part of an approved plan is compared before its purge begins.
struct ApprovalPartsTests {
    private static let second = StoreName("uploads")

    private static func part(_ store: StoreName, _ rows: Int, rule: String = "") -> PurgePlan.Part {
        PurgePlan.Part(
            store: store,
            items: [PlanItem(name: "posts", action: .delete, count: rows)],
            rules: [PurgePlan.Rule(key: "store", value: rule)]
        )
    }

    private static func plan(_ first: Int = 1, _ second: Int = 1) -> PurgePlan {
        PurgePlan(
            links: Sample.plan().links,
            parts: [part(Sample.database, first), part(Self.second, second)],
            hash: "plan of \(first) and \(second)"
        )
    }

    private static let hold = StoreHold(
        name: "case",
        store: Sample.database,
        since: Sample.start,
        uid: 1
    )

    /// A deletion with two stores whose plan was compared right before the purge.
    private static func purging(holds: [StoreHold] = []) throws -> Machine {
        var machine = Machine(stores: [Sample.database, second])
        machine.environment.holds = holds
        try machine.approve(plan())
        try machine.revokeApproved()
        try machine.send(.planned(.made(plan())))
        return machine
    }

    @discardableResult
    private static func done(
        _ machine: inout Machine,
        _ store: StoreName
    ) throws -> [RequestEffect] {
        try machine.answer(purge: .done(PurgeCounts()), store)
    }

    @Test func `purges that follow one another need one plan`() throws {
        var machine = try Self.purging()
        #expect(machine.request.purges.map(\.isBusy) == [true, false])
        #expect(try Self.done(&machine, Sample.database) == [.purge(Self.second)])
        #expect(try Self.done(&machine, Self.second) == [.verify(Sample.database)])
    }

    @Test func `a store that was held is compared when it no longer is, and nothing else`() throws {
        var machine = try Self.purging(holds: [Self.hold])
        #expect(machine.request.purges.map(\.isBusy) == [false, true])
        try Self.done(&machine, Self.second)
        #expect(machine.request.phase.parkReason == .onHold)
        machine.environment.holds = []
        #expect(try machine.send(.due) == [.plan, .announce(.resumed)])
        let sources: [PlanSource] = [.asked(Sample.database), .kept(Self.part(Self.second, 1))]
        #expect(machine.request.planSources == sources)
        #expect(try machine.send(.planned(.made(Self.plan()))) == [.purge(Sample.database)])
    }

    @Test func `what differs of a store that was held asks again, and then begins`() throws {
        var machine = try Self.purging(holds: [Self.hold])
        try Self.done(&machine, Self.second)
        machine.environment.holds = []
        try machine.send(.due)
        let changed = try machine.send(.planned(.made(Self.plan(2))))
        #expect(changed == [.announce(.planChanged), .announce(.parked(.awaitingApproval))])
        #expect(throws: OperationRefusal.planChanged) {
            try machine.send(.approve(Self.plan().hash, by: Sample.approver))
        }
        // A plan that is made anew still knows what was done under the approved one.
        try machine.send(.retry)
        #expect(machine.request.planSources.last == .kept(Self.part(Self.second, 1)))
        try machine.send(.planned(.made(Self.plan(2))))
        let approved = try machine.send(.approve(Self.plan(2).hash, by: Sample.approver))
        #expect(approved == [.announce(.approved), .plan, .announce(.resumed)])
        #expect(try machine.send(.planned(.made(Self.plan(2)))) == [.purge(Sample.database)])
        #expect(throws: OperationRefusal.tooLate) { try machine.send(.cancel) }
    }

    @Test func `a store that was paused is compared when it no longer is`() throws {
        var machine = try Self.purging()
        machine.environment.pausedStores = [Self.second]
        try machine.send(.due)
        #expect(try Self.done(&machine, Sample.database) == [.announce(.parked(.storePaused))])
        machine.environment.pausedStores = []
        #expect(try machine.send(.due) == [.plan, .announce(.resumed)])
        let sources: [PlanSource] = [.kept(Self.part(Sample.database, 1)), .asked(Self.second)]
        #expect(machine.request.planSources == sources)
    }

    @Test func `a later try is compared with what may be left, and what follows it anew`() throws {
        var machine = try Self.purging()
        try machine.answer(purge: .failure(.unreachable))
        #expect(try machine.sendDue() == [.plan])
        #expect(
            machine.request.planSources
                == [.rest(of: Self.part(Sample.database, 1)), .asked(Self.second)]
        )
        #expect(try machine.send(.planned(.made(Self.plan()))) == [.purge(Sample.database)])
        #expect(try Self.done(&machine, Sample.database) == [.purge(Self.second)])
    }

    @Test func `a store that cannot be asked holds up no other`() throws {
        var machine = try Self.purging()
        try machine.answer(purge: .failure(.unreachable))
        try machine.sendDue()
        try machine.send(.planned(.failure(Self.second, .unreachable)))
        #expect(try machine.sendDue() == [.plan])
        let kept = PlanSource.kept(Self.part(Self.second, 1))
        #expect(machine.request.planSources == [.rest(of: Self.part(Sample.database, 1)), kept])
        #expect(try machine.send(.planned(.made(Self.plan()))) == [.purge(Sample.database)])
        #expect(try Self.done(&machine, Sample.database) == [.plan])
        #expect(machine.request.planSources.last == .asked(Self.second))
    }

    @Test func `what a long purge or a restart came before is compared`() throws {
        var slow = try Self.purging()
        slow.pass(Limits.comparisonLifetime + .milliseconds(1))
        #expect(try Self.done(&slow, Sample.database) == [.plan])
        var restarted = try Self.purging()
        restarted.request.approval?.expire()
        restarted.request.purges[0].isBusy = false
        #expect(try restarted.send(.due) == [.plan])
        #expect(
            restarted.request.planSources
                == [.rest(of: Self.part(Sample.database, 1)), .asked(Self.second)]
        )
    }

    @Test func `a hold or a pause that comes and goes leaves nothing compared`() throws {
        for isHeld in [true, false] {
            var machine = try Self.purging()
            let mayPurge = {
                machine.request.mayPurge(Sample.database, at: machine.now, machine.environment)
            }
            #expect(mayPurge())
            if isHeld { machine.environment.holds = [Self.hold] }
            if !isHeld { machine.environment.pausedStores = [Sample.database] }
            try machine.send(.due)
            #expect(!mayPurge())
            (machine.environment.holds, machine.environment.pausedStores) = ([], [])
            try machine.send(.due)
            #expect(!mayPurge())
            // The engine takes the order back, and it is compared.
            let back = RequestEvent.postponed(.purge(Sample.database), until: machine.now)
            #expect(try machine.send(back) == [.plan])
            #expect(machine.request.planSources.first == .asked(Sample.database))
        }
    }

    @Test func `what waits for its turn for long may not be purged as compared`() throws {
        var machine = try Self.purging()
        machine.pass(Limits.comparisonLifetime)
        #expect(machine.request.mayPurge(Sample.database, at: machine.now, machine.environment))
        machine.pass(.milliseconds(1))
        #expect(!machine.request.mayPurge(Sample.database, at: machine.now, machine.environment))
    }

    @Test func `turned on while a purge runs it stops before the next store`() throws {
        var machine = Machine(stores: [Sample.database, Self.second])
        try machine.revokeEverything()
        machine.environment.isApprovalRequired = true
        #expect(try Self.done(&machine, Sample.database) == [.plan])
        #expect(machine.request.planSources == [.asked(Self.second)])
        let plan = PurgePlan(
            links: machine.request.links,
            parts: [Self.part(Self.second, 1)],
            hash: "one"
        )
        try machine.send(.planned(.made(plan)))
        #expect(machine.request.phase.parkReason == .awaitingApproval)
        try machine.send(.approve("one", by: Sample.approver))
        #expect(try machine.send(.planned(.made(plan))) == [.purge(Self.second)])
    }

    @Test func `a rest is no more than the part, and by the same rules`() {
        let approved = Self.part(Sample.database, 3)
        func rest(_ items: [PlanItem]?) -> Bool {
            let made = PurgePlan.Part(store: Sample.database, items: items, rules: approved.rules)
            return PlanSource.rest(of: approved).part(of: made) == approved
        }
        let posts = { PlanItem(name: "posts", action: .delete, count: $0) }
        #expect(rest([posts(3)]) && rest([posts(0)]) && rest([]) && rest([posts(1), posts(2)]))
        #expect(!rest([posts(4)]) && !rest([posts(2), posts(2)]) && !rest(nil))
        #expect(!rest([PlanItem(name: "posts", action: .anonymize, count: 1)]))
        #expect(!rest([PlanItem(name: "posts", action: .delete, count: 3, isBounded: true)]))
        #expect(!rest([posts(1), PlanItem(name: "likes", action: .delete, count: 1)]))
        #expect(rest([posts(1), PlanItem(name: "ids", action: .keep, reason: "tax", count: 1)]))
        let other = Self.part(Sample.database, 3, rule: "path = \"/other\"")
        #expect(PlanSource.rest(of: approved).part(of: other) == other)
        #expect(PlanSource.asked(Sample.database).part(of: other) == other)
    }

    @Test func `a rule that differs is another plan, and is shown as it was and is`() throws {
        func plan(_ rule: String) -> PurgePlan {
            PurgePlan(links: [], parts: [Self.part(Sample.database, 1, rule: rule)], hash: "")
        }
        let (was, now) = (plan("strategy = \"null\""), plan("strategy = \"hash\""))
        let texts = [was, now].map { PurgePlan.canonicalText(of: [], $0.parts, user: [1]) }
        #expect(texts[0] != texts[1])
        let changes = now.changes(since: was)
        #expect(changes.count == 1)
        let change = try #require(changes.first)
        #expect(change.subject == .rule(Sample.database, key: "store"))
        #expect(change.ruleWas == "strategy = \"null\"" && change.ruleNow == "strategy = \"hash\"")
        #expect(!change.isNew && !change.isGone)
    }

    @Test func `two rules about one table are told apart`() {
        func plan(_ counts: [Int]) -> PurgePlan {
            let items = counts.map { PlanItem(name: "posts", action: .delete, count: $0) }
            let part = PurgePlan.Part(store: Sample.database, items: items)
            return PurgePlan(links: [], parts: [part], hash: "")
        }
        #expect(plan([5, 2]).changes(since: plan([5, 2])).isEmpty)
        let changes = plan([5, 3]).changes(since: plan([5, 2]))
        #expect(changes.map { [$0.was?.count, $0.now?.count] } == [[2, 3]])
    }
}
