import Engine
import Lifecycle

/// Plans, the operators who approve them, and what must hold about both.
extension Simulator {
    static let operatorUID: UInt32 = 1001

    private var needsApproval: Bool { configuration.approval == .required }

    /// Counts what the stores hold right now.
    mutating func plan(_ order: PlanOrder) {
        let id = order.order.request
        if chance(faults.troublePerMille) {
            turn([.planned(id, .trouble(files, .unusable))])
            return
        }
        guard let row = store.requests[id] else { return }
        let parts = order.targets.map { target in
            let count = world.rows[target]?[row.user] ?? 0
            let item = PlanItem(name: "rows", action: .delete, count: count)
            return PurgePlan.Part(target: target, items: [item])
        }
        let text = PurgePlan.canonicalText(of: order.links, parts, user: order.userHash)
        let made = PurgePlan(links: order.links, parts: parts, hash: text)
        counted[id] = text
        if bug == .blindPlan, let shown = row.request.approval?.plan {
            turn([.planned(id, .made(shown))])
            return
        }
        turn([.planned(id, .made(made))])
    }

    /// Judged by what operators said and by what the stores held when they were last counted.
    mutating func checkApproval(of action: EngineAction) {
        guard needsApproval else { return }
        switch action {
        case .call(let id, _, _, _) where store.requests[id]?.request.kind == .deleteAccount:
            guard let given = store.requests[id]?.request.approval?.given,
                approved[id]?.contains(given.hash) ?? false
            else {
                world.violations.append("a provider was asked before an approval")
                return
            }
        case .purge(_, let orders):
            for order in orders where purgeSeen.insert(order.request).inserted {
                let text = counted[order.request] ?? ""
                guard approved[order.request]?.contains(text) ?? false else {
                    world.violations.append("a purge of a plan that nobody approved")
                    return
                }
            }
        default:
            break
        }
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
            let hash = request.approval?.plan?.hash
        else { return }
        approved[id, default: []].insert(hash)
        operate(id, .approve(hash, by: Self.operatorUID))
    }

    /// The application goes on writing.
    mutating func addRow(user: Int) {
        guard world.rows[database]?[user] != nil,
            store.requests.values.allSatisfy({
                $0.user != user || $0.request.purgeStartedAt == nil
            })
        else { return }
        world.rows[database]?[user]? += 1
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
                sim.faults.outages[apple] = sim.now + .seconds(2 * 86_400)
                sim.at(.seconds(1)) { $0.submit(.deleteAccount, user: 1) }
                sim.at(.seconds(86_400)) { $0.addRow(user: 1) }
                sim.approveAll(every: .seconds(7200), times: 99)
            },
            ends: [.completed],
            approval: .required
        ),
        Scenario(
            name: "an identity that becomes known after the approval",
            prepare: { sim in
                sim.storeToken(user: 1, provider: apple)
                sim.faults.outages[apple] = sim.now + .seconds(2 * 86_400)
                sim.at(.seconds(1)) { $0.submit(.deleteAccount, user: 1) }
                sim.at(.seconds(86_400)) { $0.storeToken(user: 1, provider: other) }
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
