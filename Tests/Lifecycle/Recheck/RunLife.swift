import Lifecycle
import Testing

/// A run that is answered at random, to its end.
struct RunLife {
    var machine: RunMachine
    var violations: [String] = []
    var purgeCount = 0
    private var random: SeededGenerator
    private let mayPurge: Bool
    private var noted: Set<[UInt8]> = []
    private var holds: [StoreHold] = []
    private var pageCount = 0

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        switch seed % 4 {
        case 0: machine = RunMachine(.rechecks)
        case 1: machine = RunMachine(.sample(after: 5))
        case 2: machine = RunMachine(replay: { $0.isDrill = true })
        default:
            let restoredAt = seed % 8 == 3 ? Sample.start + .seconds(5) : nil
            machine = RunMachine(replay: { $0.restoredAt = restoredAt })
        }
        mayPurge = seed % 4 == 3
        if seed % 3 == 0 { machine.environment = RunMachine.single(withoutTimestamps: "none") }
    }

    mutating func play() throws {
        var effects = machine.send(.begin)
        for _ in 0..<500 {
            guard let effect = effects.last(where: { !$0.isAnnouncement }) else { return }
            check(effect)
            effects = machine.send(try answer(effect))
        }
        violations.append("no end")
    }

    private mutating func check(_ effect: RecheckEffect) {
        if case .state(.note(let begun, _)) = effect { noted.formUnion(begun.map(\.hash)) }
        guard case .store(let name, let view, .purge(let orders, let known, _)) = effect else {
            return
        }
        purgeCount += 1
        if !mayPurge { violations.append("a purge by \(machine.run.kind)") }
        if holds.contains(where: { $0.store == name && $0.rows == nil }) {
            violations.append("a purge under a hold")
        }
        if known != holds.filter({ $0.store == name }) { violations.append("holds are unknown") }
        if view == .own, noted.isEmpty { violations.append("a purge that was not noted") }
        let isVouchedFor = machine.environment.stores.allSatisfy { $0.withoutTimestamps == nil }
        if case .replay(let terms) = machine.run.kind, terms.restoredAt == nil {
            if !isVouchedFor { violations.append("an undated purge") }
            if orders.contains(where: { $0.cutoff > Sample.start }) {
                violations.append("the cutoff moved")
            }
        }
    }

    private mutating func chance() -> Bool { Bool.random(using: &random) }

    private mutating func answer(_ effect: RecheckEffect) throws -> RecheckEvent {
        switch effect {
        case .state(let effect): return try answer(effect)
        case .store(_, _, .check): return .checkedCopy(problem: chance() ? "bad" : nil)
        case .store(_, _, .list):
            let user = try #require(RunMachine.user)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: return .listed(.failure(.unreachable))
            case 1: return .listed(.unknown("cannot"))
            default: return .listed(.found([(user, RunMachine.hash)]))
            }
        case .store(_, _, .purge(let orders, _, _)):
            return .purged(orders.map { _ in drawPurge() })
        case .store(_, _, .verify(let orders)):
            return .verified(orders.map { _ in drawVerification() })
        case .openCopy: return .openedCopy(nil)
        case .wait(let time):
            machine.now = max(machine.now, time)
            return .due
        case .announce: return .due
        }
    }

    private mutating func drawPurge() -> PurgeAnswer {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: .failure(.lost)
        case 1: .stopped
        case 2: .held(RunMachine.counts(1), under: ["h"])
        default: .done(RunMachine.counts(2, newer: 1))
        }
    }

    private mutating func drawVerification() -> VerifyAnswer {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: .failure(.unreachable)
        case 1: .remaining(1)
        default: .clean
        }
    }

    private mutating func answer(_ effect: RecheckStateEffect) throws -> RecheckEvent {
        switch effect {
        case .readAlarm: return .readAlarm(nil)
        case .learnTombstones: return .learned(isReadable: true)
        case .findOpen: return .foundOpen(chance() ? [RunMachine.request: true] : [:])
        case .restore: return .restored
        case .loadTombstones(_, let position, _):
            pageCount += 1
            return pageCount > 3 || position > 100
                ? .loaded([], next: position) : .loaded([RunMachine.tombstone], next: position + 1)
        case .loadDue:
            pageCount += 1
            guard pageCount < 4 else { return .loadedDue(DuePage(next: machine.now)) }
            let paused: Set<StoreName> = chance() ? [Sample.database] : []
            let due = RunMachine.due(stores: [Sample.database, RunMachine.crm])
            return .loadedDue(try RunMachine.page([due], paused: paused))
        case .findLate(let requests): return .foundLate(chance() ? Array(requests) : [])
        case .findBegun:
            let begun = BegunErasure(request: RunMachine.request, hash: RunMachine.hash)
            return .foundBegun(chance() ? [begun] : [])
        case .readHolds:
            switch Int.random(in: 0..<5, using: &random) {
            case 0: holds = [RunMachine.hold()]
            case 1: holds = [RunMachine.hold(isOfRows: true)]
            default: holds = []
            }
            return .readHolds(holds, UsersOnHold())
        case .note(let begun, _): return .noted(chance() ? Set(begun) : [])
        case .record, .forgetLate, .recordSample: return .recorded
        case .close(let ended): return .closed(ended)
        case .reopen(let users, _): return .reopened(users.map { ($0.request, $0.found) })
        }
    }
}
