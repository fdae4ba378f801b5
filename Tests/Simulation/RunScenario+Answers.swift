import Lifecycle

/// Copies, the vault and the ledger, which may refuse what a run asks for.
extension RunScenario {
    private static func drill(_ id: String, in place: String) -> ReplayTerms {
        terms(id) { ($0.isDrill, $0.store, $0.copy) = (true, database, place) }
    }

    private static func copied(_ sim: Simulator, _ place: String) -> Int? {
        sim.world.copies[place]?.values.reduce(0, +)
    }

    static let answers: [RunScenario] = [
        RunScenario(
            name: "a drill erases in its copy, which must be usable, and changes nothing else",
            play: { sim in
                sim.restoreBackup(database)
                for place in ["/damaged", "/copy"] { sim.makeCopy(of: database, at: place) }
                sim.world.damagedCopies = ["/damaged"]
                sim.replayUntilDone(drill("a", in: "/none"))
                sim.at(hour) { $0.replayUntilDone(drill("b", in: "/damaged")) }
                sim.at(hour * 2) { $0.replayUntilDone(drill("c", in: "/copy")) }
                sim.at(hour * 3) { $0.replayUntilDone(drill("d", in: "/copy")) }
            },
            judge: { sim in
                let misconfigured = EffectFailure.misconfigured.code
                return expect(left(sim) == 9, "a drill purges")
                    + expect(copied(sim, "/damaged") == 9, "a copy is used that is damaged")
                    + expect(copied(sim, "/copy") == 0, "rows are left in the copy")
                    + expect(error(sim, "a", database) == "bad_copy", "not refused")
                    + expect(error(sim, "b", database) == misconfigured, "not checked")
                    // A copy that is still open would be refused.
                    + expect(sim.book.reports["d"]?.isComplete == true, "not complete")
                    + expect(sim.world.openCopies.isEmpty, "a copy is open")
                    + expect(sim.disk.runs.replayed.isEmpty, "a drill is recorded")
            },
            span: .seconds(8 * 3600)
        ),
        RunScenario(
            name: "a record whose key is lost is closed, and one whose key is away waits for it",
            play: { sim in
                sim.restoreBackup(database)
                for (user, isLost) in [1: true, 2: false] {
                    guard let id = sim.requestID(of: user) else { continue }
                    sim.disk.runs.unopened[id] = isLost
                }
                sim.at(day * 3) { sim in
                    if let id = sim.requestID(of: 2) { sim.disk.runs.unopened[id] = nil }
                }
                sim.at(day * 6) { $0.replayUntilDone(terms("a")) }
            },
            judge: { sim in
                let known = [2, 3].compactMap { sim.requestID(of: $0) }
                let lost = sim.requestID(of: 1).flatMap { sim.disk.runs.outcomes[$0] }
                return expect(sim.book.alarms == Set(known), "alarms")
                    + expect(lost == [.unreadable], "the lost one: \(lost ?? [])")
                    + expect(left(sim) == 0, "rows are left")
                    + expect(sim.disk.runs.records.isEmpty, "records are left")
            },
            span: .seconds(30 * 86_400)
        ),
        RunScenario(
            name: "while the ledger has an alarm, or cannot be read, a replay erases nothing",
            play: { sim in
                sim.restoreBackup(database)
                sim.disk.runs.ledger = .alarmed("rolled_back")
                sim.replayUntilDone(terms("a"))
                sim.at(hour) { $0.replayUntilDone(terms("drill") { $0.isDrill = true }) }
                sim.at(hour * 2) { sim in
                    sim.disk.runs.ledger = .unreadable
                    sim.replayUntilDone(terms("b"))
                }
                sim.at(hour * 3) { sim in
                    sim.disk.runs.ledger = .sound
                    sim.replayUntilDone(terms("c"))
                }
            },
            judge: { sim in
                let state = StoreName("state")
                let drilled = sim.book.reports["drill"]?.stores.first { $0.name == database }
                return expect(error(sim, "a", state) == "rolled_back", "no alarm")
                    + expect(drilled?.found == 3, "the drill finds not all")
                    + expect(error(sim, "b", state) == "checkpoint_file", "not named")
                    + expect(sim.book.reports["c"]?.isComplete == true, "not complete")
                    + expect(left(sim) == 0, "rows are left")
            },
            span: .seconds(8 * 3600)
        ),
    ]
}
