import Engine
import Lifecycle

/// Plans, the operators who approve them, and what must hold about both.
extension Simulator {
    static let operatorUIDs: [UInt32] = [1001, 1002]

    private var needsApproval: Bool { configuration.approval == .required }

    /// Counts what the stores hold right now.
    mutating func plan(_ order: PlanOrder) {
        let id = order.order.request
        if chance(faults.failurePerMille) {
            turn([.planned(id, .failure(files, .unusable))])
            return
        }
        guard let row = disk.requests[id] else { return }
        let parts = order.sources.map { source in
            if case .kept(let part) = source { return part }
            return source.part(of: part(of: source.store, user: row.user))
        }
        let text = PurgePlan.canonicalText(of: order.links, parts, user: order.userHash)
        let made = PurgePlan(links: order.links, parts: parts, hash: text)
        let isBlind =
            bug == .blindPlan || bug == .blindLaterPlan && row.request.purgeStartedAt != nil
        if isBlind, let shown = row.request.approval?.plan {
            turn([.planned(id, .made(shown))])
            return
        }
        turn([.planned(id, .made(made))])
    }

    /// What a purge would do right now.
    private func part(of store: StoreName, user: Int) -> PurgePlan.Part {
        PurgePlan.Part(
            store: store,
            items: [
                PlanItem(name: "rows", action: .delete, count: world.rows[store]?[user] ?? 0)
            ],
            rules: [PurgePlan.Rule(key: "store", value: world.rules[store] ?? "")]
        )
    }

    /// Judged by what operators said and by what the stores hold.
    mutating func checkApproval(of action: EngineAction) {
        guard needsApproval else { return }
        switch action {
        case .call(let id, _, _, _) where disk.requests[id]?.request.kind == .deleteAccount:
            guard approvedPlan(of: id) != nil else {
                world.violations.append("a provider was asked before an approval")
                return
            }
        case .purge(let store, let orders):
            for order in orders where !isApproved(store, of: order.request) {
                world.violations.append("a purge that nobody approved")
                return
            }
        default:
            break
        }
    }

    private func approvedPlan(of id: RequestID) -> PurgePlan? {
        guard let request = disk.requests[id]?.request, let given = request.approval?.given
        else { return nil }
        if request.isAnonymous {
            guard let first = request.approval?.first, first.by != given.by else { return nil }
        }
        return approved[id]?[given.hash]
    }

    /// Whether what the store would purge is what was approved, or what is left of it.
    private func isApproved(_ store: StoreName, of id: RequestID) -> Bool {
        let part = approvedPlan(of: id)?.parts.first { $0.store == store }
        guard let user = disk.requests[id]?.user, let approved = part,
            let most = approved.items?.first?.count
        else { return false }
        let now = self.part(of: store, user: user)
        guard world.begun[id]?.contains(store) ?? false else { return now == approved }
        return now.rules == approved.rules && (now.items?.first?.count ?? 0) <= most
    }

    /// An operator who looks at everything that waits, again and again, and approves what is shown.
    mutating func approveAll(every pause: Duration, times: Int) {
        guard times > 0 else { return }
        at(pause) { sim in
            for id in sim.acknowledged.sorted() { sim.approve(id) }
            sim.approveAll(every: pause, times: times - 1)
        }
    }

    private mutating func approve(_ id: RequestID) {
        guard let request = request(id), request.phase.parkReason == .awaitingApproval,
            let plan = request.approval?.plan
        else { return }
        approved[id, default: [:]][plan.hash] = plan
        for uid in Self.operatorUIDs { operate(id, .approve(plan.hash, by: uid)) }
    }

    /// The application goes on writing, but not between a comparison and the purge right behind it,
    /// which nobody can rule out.
    mutating func addRow(user: Int, to store: StoreName = database) {
        guard world.rows[store]?[user] != nil,
            disk.requests.values.allSatisfy({ row in
                row.user != user
                    || !row.request.isBusy
                        && row.request.purges.allSatisfy {
                            $0.store != store || $0.step == .waiting
                        }
            })
        else { return }
        world.rows[store]?[user]? += 1
    }

    /// A reload brings another rule for a store.
    mutating func changeRule(of store: StoreName) {
        world.rules[store] = now.rfc3339
        turn([.reconfigured(configuration)])
    }
}

extension Scenario {
    /// Courses of events where every deletion needs an approval.
    static let approvals: [Scenario] = [
        Scenario(
            name: "a plan that somebody approves",
            prepare: { sim in
                sim.storeToken(user: 1, provider: apple)
                sim.at(.seconds(1)) { $0.submit(.deleteAccount, user: 1) }
                sim.approveAll(every: .seconds(3600), times: 9)
            },
            ends: [.completed],
            approval: .required
        ),
        Scenario(
            name: "a plan that nobody approves",
            prepare: { sim in
                sim.storeToken(user: 1, provider: apple)
                sim.at(.seconds(1)) { $0.submit(.deleteAccount, user: 1) }
            },
            ends: [.parked],
            approval: .required
        ),
        Scenario(
            name: "rows that come between approval and purge are asked about again",
            prepare: { sim in
                sim.storeToken(user: 1, provider: apple)
                sim.faults.outages[apple] = sim.now + .seconds(5 * 3600)
                sim.at(.seconds(1)) { $0.submit(.deleteAccount, user: 1) }
                sim.at(.seconds(4 * 3600)) { $0.addRow(user: 1) }
                sim.approveAll(every: .seconds(7200), times: 99)
            },
            ends: [.completed],
            approval: .required
        ),
        Scenario(
            name: "an identity that becomes known after the approval",
            prepare: { sim in
                sim.storeToken(user: 1, provider: apple)
                sim.faults.outages[apple] = sim.now + .seconds(5 * 3600)
                sim.at(.seconds(1)) { $0.submit(.deleteAccount, user: 1) }
                sim.at(.seconds(4 * 3600)) { $0.storeToken(user: 1, provider: other) }
                sim.approveAll(every: .seconds(7200), times: 99)
            },
            ends: [.completed],
            approval: .required
        ),
        Scenario(
            name: "rows that come while a store is held are asked about before it is purged",
            prepare: { sim in
                sim.placeUntilDone(Simulator.hold("a", on: database))
                sim.at(.seconds(10)) { $0.submit(.deleteAccount, user: 1) }
                sim.at(.seconds(86_400)) { $0.addRow(user: 1) }
                sim.at(.seconds(100_000)) { $0.liftAllHolds() }
                sim.approveAll(every: .seconds(7200), times: 99)
            },
            ends: [.completed],
            approval: .required
        ),
        Scenario(
            name: "a rule that changes between two purges is asked about",
            prepare: { sim in
                sim.placeUntilDone(Simulator.hold("a", on: files))
                sim.at(.seconds(10)) { $0.submit(.deleteAccount, user: 1) }
                sim.at(.seconds(86_400)) { $0.changeRule(of: files) }
                sim.at(.seconds(100_000)) { $0.liftAllHolds() }
                sim.approveAll(every: .seconds(7200), times: 99)
            },
            ends: [.completed],
            approval: .required
        ),
        Scenario(
            name: "a hold on what waits for an approval",
            prepare: { sim in
                sim.storeToken(user: 1, provider: apple)
                sim.at(.seconds(1)) { sim in
                    let id = sim.submit(.deleteAccount, user: 1)
                    sim.holdUntilDone(id)
                }
                sim.at(.seconds(86_400)) { $0.releaseAll() }
                sim.approveAll(every: .seconds(7200), times: 99)
            },
            ends: [.completed],
            approval: .required
        ),
    ]
}
