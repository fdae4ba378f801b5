import Lifecycle

/// Rows of one store name the ids by which another one knows the users.
extension RunScenario {
    private static func restoreBoth(_ sim: inout Simulator) {
        for store in [database, crm] { sim.restoreBackup(store) }
    }

    static let keyed: [RunScenario] = [
        RunScenario(
            name: "restored rows lead to a store that lists nothing",
            play: { sim in
                sim.world.unlisted.insert(crm)
                restoreBoth(&sim)
                sim.sampleOnce()
                sim.at(hour) { $0.replayUntilDone(terms("a")) }
            },
            judge: { sim in
                expect(left(sim) + left(sim, crm) == 0, "rows are left")
                    + expect(error(sim, "a", crm) == "cannot_list", "not named")
                    + expect(sim.disk.runs.late.isEmpty, "ids are left")
                    + expect(sim.disk.runs.begun.values.allSatisfy(\.isEmpty), "notes are left")
            },
            span: .seconds(3 * 86_400),
            isKeyed: true
        ),
        RunScenario(
            name: "ids that a hold kept from use are used by the next replay",
            play: { sim in
                sim.placeUntilDone(Simulator.hold("h", on: crm))
                sim.at(.seconds(60)) { sim in
                    restoreBoth(&sim)
                    sim.replayUntilDone(terms("a") { $0.store = database })
                }
                sim.at(day * 3) { $0.liftHold("h") }
                sim.at(day * 3 + hour) { sim in
                    sim.replayUntilDone(terms("b") { $0.store = database })
                }
            },
            judge: { sim in
                expect(left(sim) + left(sim, crm) == 0, "rows are left")
                    + expect(error(sim, "a", crm) == "on_hold", "not named")
                    + expect(sim.book.reports["b"]?.isComplete == true, "not complete")
                    + expect(sim.disk.runs.late.isEmpty, "ids are left")
                    + expect(sim.book.alarms.count == 3, "no alarm")
            },
            span: .seconds(5 * 86_400),
            isKeyed: true
        ),
        RunScenario(
            name: "a sample finds ids of a store, and these are rechecked until they are gone",
            play: { sim in
                sim.at(day * 10) { $0.restoreBackup(crm) }
                for number in 1...8 { sim.at(day * 10 + hour * number) { $0.sampleOnce() } }
                sim.at(day * 14) { $0.replayUntilDone(terms("a")) }
            },
            judge: { sim in
                expect(sim.book.alarms.count == 3, "not all are found: \(sim.book.alarms.count)")
                    + expect(left(sim, crm) == 0, "rows are left")
                    + expect(sim.disk.runs.records.isEmpty, "records are left")
            },
            span: .seconds(40 * 86_400),
            isKeyed: true
        ),
        RunScenario(
            name: "a user on hold keeps what was restored, is named, and has an alarm",
            play: { sim in
                sim.holdUser(1)
                restoreBoth(&sim)
                sim.replayUntilDone(terms("a"))
            },
            judge: { sim in
                let held = sim.requestID(of: 1)
                let rows = [database, crm].map { sim.world.rows[$0] }
                return expect(rows == Array(repeating: [1: 3, 2: 0, 3: 0], count: 2), "\(rows)")
                    + expect(error(sim, "a", database) == "on_hold", "not named")
                    + expect(error(sim, "a", crm) == "on_hold", "not named by its id")
                    + expect(Array(sim.book.alarms) == [held].compactMap(\.self), "alarms")
                    + expect(held.flatMap { sim.disk.runs.records[$0]?.stage } == 0, "no record")
            },
            span: .seconds(3 * 86_400),
            isKeyed: true
        ),
    ]
}
