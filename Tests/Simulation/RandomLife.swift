import Engine
import Lifecycle

/// A random course of events drawn from one seed: sign-ins, requests, operators, outages, crashes.
enum RandomLife {
    /// Runs one seed to its end: first with faults, then healed, so that liveness can be asked for.
    static func run(seed: UInt64, bug: PlantedBug? = nil, isTracing: Bool = false) -> Simulator {
        // A few: the daily search for dying tokens makes a life long.
        let approval = seed % 5 == 0 ? ApprovalPolicy.required : .none
        let configuration = Scenario.configuration(
            approval: approval,
            hasClocks: seed % 8 == 0,
            isKeyed: seed % 10 == 3
        )
        var sim = Simulator(seed: seed, configuration: configuration)
        sim.isTracing = isTracing
        sim.bug = bug
        sim.isDirectoryUnknownAtIntake = seed % 6 == 1
        sim.drawFaults()
        sim.drawClock()
        sim.drawUsers()
        if approval == .required { sim.drawApprovals() }
        sim.drawStoreHolds()
        sim.drawRuns()
        sim.drawRareRuns(seed: seed)
        sim.run(for: .seconds(3 * 86_400))
        sim.heal()
        sim.run(for: .seconds(60 * 86_400))
        sim.expectEverythingEnded()
        return sim
    }
}

extension Simulator {
    /// Every kind of fault has its own strength per seed, and often none ("swarm testing").
    fileprivate mutating func drawFaults() {
        faults.failurePerMille = pick([0, 0, 50, 200, 500])
        faults.lostAnswerPerMille = pick([0, 20, 100])
        faults.crashPerMille = pick([0, 5, 20, 60])
        faults.callLatencyMaxMs = Int64(pick([1, 400, 30_000]))
        faults.repeatsMax = pick([0, 1, 4])
        faults.lateSignInPerMille = pick([0, 100])
        if chance(300) {
            faults.outages[pick([apple, other, rotating, directory])] =
                now + .seconds(Int64(pick([60, 7200, 20_000])))
        }
    }

    /// Half of the machines have a spool, a third a clock that is wrong and set later.
    fileprivate mutating func drawClock() {
        hasSpool = chance(500)
        if chance(333) {
            let year = Int64(365 * 86_400)
            clockError = .seconds(pick([-year, year, -45, 45, -86_400, 86_400]))
            clockEpoch = clock
            (disk.clockError, disk.clockEpoch) = (clockError, clock)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let delay = Duration.seconds(Int64.random(in: 1...1200, using: &random))
                let error = Duration.seconds(pick([-30, 30, -3600, 7200, 0]))
                at(delay) { $0.setClock(error: error) }
            }
            at(.seconds(1300)) { $0.setClock(error: .zero) }
            faults.admissionLatencyMaxMs = 200
            isClockSetAtIntake = chance(500)
        }
        restart(isOwnCrash: false)
    }

    /// Somebody sets the clock right before a request is committed, or before it is heard of.
    private mutating func drawClockAtIntake(after delay: Duration) {
        guard isClockSetAtIntake else { return }
        let error = Duration.seconds(pick([0, 0, 0, 3600]))
        let late = latency(faults.admissionLatencyMaxMs)
        at(chance(500) ? delay + late : delay - .milliseconds(50)) { $0.setClock(error: error) }
    }

    mutating func drawUsers() {
        let userCount = Int.random(in: 1...4, using: &random)
        for user in 1...userCount {
            var isAtApple = false
            for provider in [apple, other, rotating] where chance(600) {
                drawIdentity(user, provider)
                isAtApple = isAtApple || provider == apple
            }
            for before in [1, 3600] { writeDated(user: user, before: .seconds(before)) }
            for provider in [apple, other, password, unconfigured] where chance(300) {
                world.links[user, default: []].insert(provider)
            }
            let delay = Duration.seconds(Int64.random(in: 0...600, using: &random))
            let isDeletion = chance(800)
            let grace = Duration.seconds(Int64(pick([0, 0, 30, 3600])))
            if chance(500), !isAtApple {
                let unsealedFor = Duration.seconds(Int64(pick([0, 0, 5, 90_000])))
                at(delay) { $0.spoolToken(user: user, provider: apple, unsealedFor: unsealedFor) }
            }
            drawClockAtIntake(after: delay)
            at(delay) { sim in
                sim.writeDated(user: user)
                let kind: RequestKind = isDeletion ? .deleteAccount : .revokeTokens
                let id = sim.submit(kind, user: user, key: "key-\(user)", grace: grace)
                // Applications that do not hear the answer ask again, at once or much later.
                for again in [0, 60, 90_000] where sim.chance(700) {
                    sim.at(.seconds(again)) { sim in
                        sim.submit(kind, user: user, key: "key-\(user)", grace: grace)
                    }
                }
                sim.drawOperations(id, user: user)
            }
        }
    }

    /// An operator who comes by now and then, for as long as the run lasts, and an application that
    /// writes on.
    mutating func drawApprovals() {
        approveAll(every: .seconds(Int64(pick([600, 7200, 40_000]))), times: 200)
        for _ in 0..<3 {
            let user = Int.random(in: 1...4, using: &random)
            let store = pick([database, files])
            let delay = Duration.seconds(Int64.random(in: 0...200_000, using: &random))
            at(delay) { $0.addRow(user: user, to: store) }
            if chance(200) { at(delay) { $0.changeRule(of: store) } }
        }
        at(.seconds(3 * 86_400)) { $0.approveAll(every: .seconds(7200), times: 600) }
    }

    mutating func drawStoreHolds() {
        for name in ["a", "b"] where chance(200) {
            let hold = Self.hold(name, on: pick([database, files]), isOfRows: chance(500))
            let placedAt = Duration.seconds(Int64.random(in: 0...900, using: &random))
            at(placedAt) { $0.placeUntilDone(hold) }
            guard chance(500) else { continue }
            let liftedAt = Duration.seconds(Int64.random(in: 900...200_000, using: &random))
            at(liftedAt) { $0.liftHold(name) }
        }
    }

    private mutating func drawIdentity(_ user: Int, _ provider: ProviderName) {
        let delay = Duration.seconds(Int64.random(in: 0...900, using: &random))
        switch Int.random(in: 0..<5, using: &random) {
        case 0: storeToken(user: user, provider: provider)
        case 1: storeToken(user: user, provider: provider, isLive: false)
        case 2: at(delay) { $0.signIn(user: user, provider: provider) }
        case 3: signIn(user: user, provider: provider, codeAge: .seconds(400))
        default:
            storeToken(user: user, provider: provider)
            at(delay) { $0.storeToken(user: user, provider: provider) }
        }
    }

    private mutating func drawOperations(_ id: RequestID, user: Int) {
        let delay = Duration.seconds(Int64.random(in: 0...200_000, using: &random))
        switch Int.random(in: 0..<12, using: &random) {
        case 0:
            at(delay) { $0.holdUntilDone(id) }
        case 1:
            holdUntilDone(id)
        case 2:
            at(delay) { $0.operate(id, .retry) }
        case 3:
            at(delay) { $0.operate(id, .cancel) }
        case 4:
            at(delay) { $0.operate(id, .abandon) }
        case 5:
            at(delay) { $0.turn([.pause(apple, reason: "operator")]) }
        default:
            break
        }
    }

    /// Backups that are put back, replays and samples; the clock of such a machine is right.
    fileprivate mutating func drawRuns() {
        guard clockError == .zero, !isClockSetAtIntake else { return }
        for number in 0..<pick([0, 1, 2]) {
            let store = pick(configuration.stores)
            let isVouchedFor = chance(500)
            at(.seconds(Int64.random(in: 900...220_000, using: &random))) { sim in
                sim.restoreBackup(store)
                if store == database, sim.hasKeys { sim.restoreBackup(crm) }
                let now = sim.clock
                sim.replayUntilDone(
                    RunScenario.terms("drawn-\(number)") { terms in
                        guard isVouchedFor else { return }
                        (terms.store, terms.restoredAt) = (store, now)
                    }
                )
            }
        }
        if chance(300) { at(.seconds(230_000)) { $0.sampleOnce() } }
        // After everything is healed nothing of a restored backup is left.
        for store in configuration.stores {
            at(.seconds(40 * 86_400)) { sim in
                let now = sim.clock
                sim.replayUntilDone(
                    RunScenario.terms("last-\(store)") { terms in
                        (terms.store, terms.restoredAt) = (store, now)
                    }
                )
            }
        }
    }

    mutating func heal() {
        faults = Faults()
        isHealed = true
        for name in [apple, other, rotating, directory] {
            if isShared { resumeUntilDone(name) } else { turn([.resume(name)]) }
        }
        // A hold whose acknowledgement is under way is lifted too.
        releaseAll()
        liftAllHolds()
        at(.seconds(60)) { sim in
            sim.releaseAll()
            sim.liftAllHolds()
        }
    }

    /// I-10 and liveness: with everything healed, every request comes to its end by itself.
    mutating func expectEverythingEnded() {
        guard world.violations.isEmpty else { return }
        for id in acknowledged {
            guard let request = request(id), !request.phase.isEnded else { continue }
            world.violations.append("never ended: \(request.phase)")
        }
        for (store, report) in configuration.stores.map({ ($0, book.reports["last-\($0)"]) }) {
            guard let report else { continue }
            let left = disk.runs.tombstones.compactMap { disk.requests[$0.request] }
                .filter { (world.rows[store]?[$0.user] ?? 0) > 0 }
            if !left.isEmpty || !report.isComplete {
                world.violations.append("R-1: rows are left after the last replay")
            }
        }
    }

    mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &random)]
    }
}
