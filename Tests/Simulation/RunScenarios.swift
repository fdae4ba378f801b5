import Engine
import Lifecycle
import Testing

/// Rechecks, samples and replays, and what must hold when they are over.
struct RunScenario: Sendable {
    let name: String
    /// After the deletions of users 1 to 3 are over.
    let play: @Sendable (inout Simulator) -> Void
    /// What is wrong at the end.
    let judge: @Sendable (Simulator) -> [String]
    var span = Duration.seconds(20 * 86_400)
    /// Rows of one store lead to another one.
    var isKeyed = false

    static let hour = Duration.seconds(3600)
    static let day = Duration.seconds(86_400)

    /// Three users are deleted in the first hour, then the scenario is played.
    func prepare(_ sim: inout Simulator) {
        for user in 1...3 {
            sim.storeToken(user: user, provider: apple)
            sim.at(.seconds(1)) { $0.submit(.deleteAccount, user: user, key: "key-\(user)") }
        }
        sim.at(Self.hour, play)
    }

    static func terms(
        _ id: String,
        _ change: (inout ReplayTerms) -> Void = { _ in }
    ) -> ReplayTerms {
        var terms = ReplayTerms(since: Simulator.start)
        terms.id = id
        change(&terms)
        return terms
    }

    /// Rows that erased users have in a store.
    static func left(_ sim: Simulator, _ store: StoreName = database) -> Int {
        sim.world.rows[store]?.values.reduce(0, +) ?? 0
    }

    static func expect(_ isSo: Bool, _ text: String) -> [String] { isSo ? [] : [text] }

    static func error(_ sim: Simulator, _ id: String, _ store: StoreName) -> String? {
        sim.book.reports[id]?.stores.first { $0.name == store }?.error
    }

    private static let replays: [RunScenario] = [
        RunScenario(
            name: "a restored store is replayed",
            play: { sim in
                sim.restoreBackup(database)
                sim.replayUntilDone(terms("a"))
            },
            judge: { sim in
                expect(left(sim) == 0, "rows are left")
                    + expect(sim.book.reports["a"]?.isComplete == true, "not complete")
            }
        ),
        RunScenario(
            name: "a restored store without timestamps is replayed on the operator's word",
            play: { sim in
                sim.restoreBackup(files)
                let now = sim.clock
                sim.replayUntilDone(terms("a") { ($0.store, $0.restoredAt) = (files, now) })
            },
            judge: { expect(left($0, files) == 0, "rows are left") }
        ),
        RunScenario(
            name: "without that word it is left and named",
            play: { sim in
                sim.restoreBackup(files)
                sim.replayUntilDone(terms("a"))
            },
            judge: { sim in
                expect(left(sim, files) == 9, "undated rows are gone")
                    + expect(error(sim, "a", files) == "undated", "not named")
            }
        ),
        RunScenario(
            name: "a store under a hold is left and named",
            play: { sim in
                sim.placeUntilDone(Simulator.hold("h", on: database))
                sim.at(.seconds(60)) { sim in
                    sim.restoreBackup(database)
                    sim.replayUntilDone(terms("a"))
                }
            },
            judge: { sim in
                expect(left(sim) == 9, "held rows are gone")
                    + expect(error(sim, "a", database) == "on_hold", "not named")
            }
        ),
        RunScenario(
            name: "a hold on rows keeps these, and the rest goes",
            play: { sim in
                sim.placeUntilDone(Simulator.hold("h", on: database, isOfRows: true))
                sim.at(.seconds(60)) { sim in
                    sim.restoreBackup(database)
                    sim.replayUntilDone(terms("a"))
                }
            },
            judge: { sim in
                expect(left(sim) == 2, "not the held rows alone are left: \(left(sim))")
                    + expect(error(sim, "a", database) == "on_hold", "not named")
            }
        ),
        RunScenario(
            name: "a replay after the end of a hold erases the rest",
            play: { sim in
                sim.placeUntilDone(Simulator.hold("h", on: database))
                sim.at(.seconds(60)) { sim in
                    sim.restoreBackup(database)
                    sim.replayUntilDone(terms("a"))
                }
                sim.at(day) { $0.liftHold("h") }
                sim.at(day + hour) { $0.replayUntilDone(terms("b")) }
            },
            judge: { sim in
                expect(left(sim) == 0, "rows are left")
                    + expect(sim.book.reports["b"]?.isComplete == true, "not complete")
            }
        ),
        RunScenario(
            name: "a deletion that is open at the restoration purges again",
            play: { sim in
                sim.storeToken(user: 4, provider: apple)
                sim.pauseStoreUntilDone(files)
                sim.submit(.deleteAccount, user: 4, key: "key-4")
                sim.at(hour) { sim in
                    sim.restoreBackup(database)
                    sim.replayUntilDone(terms("a"))
                }
                sim.at(day) { $0.resumeStoreUntilDone(files) }
            },
            judge: { sim in
                expect(left(sim) == 0, "rows are left")
                    + expect(
                        sim.acknowledged.allSatisfy { sim.state($0) == .completed },
                        "a deletion is open"
                    )
            }
        ),
        RunScenario(
            name: "an account that was registered again keeps what it has",
            play: { sim in
                sim.restoreBackup(database)
                sim.comeBack(1)
                sim.replayUntilDone(terms("a"))
            },
            judge: { expect(left($0) == 0, "rows are left") }
        ),
        RunScenario(
            name: "a drill leaves everything and counts it",
            play: { sim in
                sim.restoreBackup(database)
                sim.replayUntilDone(terms("a") { $0.isDrill = true })
            },
            judge: { sim in
                let found = sim.book.reports["a"]?.stores.first { $0.name == database }?.found
                return expect(left(sim) == 9, "a drill purges") + expect(found == 3, "not counted")
            }
        ),
    ]

    private static let looks: [RunScenario] = [
        RunScenario(
            name: "rechecks that find nothing end by themselves",
            play: { _ in },
            judge: { sim in
                expect(sim.disk.runs.records.isEmpty, "records are left")
                    + expect(sim.book.alarms.isEmpty, "an alarm about nothing")
                    + expect(
                        sim.disk.runs.outcomes.values.allSatisfy { $0 == [.clean, .clean] },
                        "not rechecked twice"
                    )
            }
        ),
        RunScenario(
            name: "a recheck that finds data alarms each time until a replay erases it",
            play: { sim in
                sim.restoreBackup(database)
                sim.at(day * 3) { $0.replayUntilDone(terms("a")) }
            },
            judge: { sim in
                expect(sim.book.alarms.count == 3, "no alarm")
                    + expect(sim.disk.runs.records.isEmpty, "records are left")
                    + expect(
                        sim.disk.runs.outcomes.values.allSatisfy {
                            $0.first == .returned && $0.last == .clean
                        },
                        "outcomes"
                    )
            },
            span: .seconds(30 * 86_400)
        ),
        RunScenario(
            name: "a paused store is rechecked when it is resumed",
            play: { sim in
                sim.pauseStoreUntilDone(database)
                sim.at(day * 5) { $0.resumeStoreUntilDone(database) }
            },
            judge: { expect($0.disk.runs.records.isEmpty, "records are left") }
        ),
        RunScenario(
            name: "a sample finds what returned after the last recheck",
            play: { sim in
                sim.at(day * 10) { $0.restoreBackup(database) }
                for number in 1...6 { sim.at(day * 10 + hour * number) { $0.sampleOnce() } }
                sim.at(day * 14) { $0.replayUntilDone(terms("a")) }
            },
            judge: { sim in
                expect(sim.book.alarms.count == 3, "not all are found: \(sim.book.alarms.count)")
                    + expect(left(sim) == 0, "rows are left")
                    + expect(sim.disk.runs.records.isEmpty, "records are left")
            },
            span: .seconds(40 * 86_400)
        ),
        RunScenario(
            name: "a store that fails now and then is replayed until it is done",
            play: { sim in
                sim.faults.failurePerMille = 100
                sim.faults.lostAnswerPerMille = 50
                sim.restoreBackup(database)
                for number in 1...8 {
                    sim.at(hour * number) { $0.replayUntilDone(terms("\(number)")) }
                }
            },
            judge: { expect(left($0) == 0, "rows are left") }
        ),
    ]

    static let all: [RunScenario] = replays + looks + keyed + answers
}

extension RunScenario: CustomTestStringConvertible {
    var testDescription: String { name }
}

extension Simulator {
    /// The user registers again: what is written now is no business of the deletion.
    mutating func comeBack(_ user: Int) {
        writeDated(user: user)
        for store in configuration.stores { world.laterLives.append((store, user, clock)) }
    }

    mutating func pauseStoreUntilDone(_ store: StoreName) {
        turn([.pauseStore(store, reason: "operator")])
        at(.milliseconds(500)) { sim in
            if sim.disk.pauses.stores[store] == nil { sim.pauseStoreUntilDone(store) }
        }
    }

    mutating func resumeStoreUntilDone(_ store: StoreName) {
        turn([.resumeStore(store)])
        at(.seconds(2)) { sim in
            if sim.disk.pauses.stores[store] != nil { sim.resumeStoreUntilDone(store) }
        }
    }
}
