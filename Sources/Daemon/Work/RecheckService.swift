import Engine
import Lifecycle
import Logging
import Settings
import Storage
import Synchronization
import Vault

/// Looks at the stores of completed deletions again, and alarms when data came back.
///
/// ```
/// completed ──▶ case: user id under a key of its own ──▶ due ──▶ verify, with the purge's cutoff
///    clean ──▶ next stage ── after the last ──▶ row and key destroyed
///    remaining ──▶ alarm, first stage again      store away ──▶ later
/// ```
///
/// It only ever reads. A crash between a look and its record costs one more look.
final class RecheckService: Sendable {
    /// Cases at once, as the engine makes the batches of a store.
    static let batchMax = 128
    /// Between two full batches: at most 2,500 cases a second, so that a million that became due
    /// while nothing ran leave the stores to the application and to new deletions.
    static let pause = Duration.milliseconds(50)
    /// A store that cannot be looked at for so long after its time is told about.
    static let overdueAfter = Duration.seconds(3 * 86_400)
    /// A store that does not answer is asked again after this, twice that, and so on.
    private static let retryMin = Duration.seconds(60)
    private static let retryMax = Duration.seconds(6 * 3600)
    /// When data came back and no look is configured any more.
    static let againAfter = Duration.seconds(86_400)

    /// What became of one store of a case.
    private enum Finding {
        case clean
        case remaining(Int)
        /// Not configured any more, or no ids are known by which it knows the user.
        case missing
        case unknown(retryAt: WallTime)
    }

    private struct EffectFailure {
        var failures = 0
        var retryAt = WallTime.distantPast
    }

    private let state: StateDatabase
    private let vault: SealedVault
    private let registry: AdapterRegistry
    private let clock: any EngineClock
    private let counter: RecheckCounter
    private let logger: Logger
    private let failures = Mutex<[TargetName: EffectFailure]>([:])

    init(
        state: StateDatabase,
        vault: SealedVault,
        registry: AdapterRegistry,
        clock: any EngineClock,
        counter: RecheckCounter,
        logger: Logger
    ) {
        self.state = state
        self.vault = vault
        self.registry = registry
        self.clock = clock
        self.counter = counter
        self.logger = logger
    }

    /// Looks whenever a case is due, until the task is cancelled.
    ///
    /// - Throws: `CancellationError`, or the error of a store whose truth is unknown.
    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            var timers = ArmedTimers()
            for await _ in state.recheckSignals {
                let next = try await lookAgain()
                let now = clock.now()
                guard let next, timers.arm(next, at: now, stepCount: clock.stepCount) else {
                    continue
                }
                group.addTask {
                    do {
                        try await self.clock.sleep(until: next)
                    } catch {
                        // Only cancellation ends a sleep early, and then nobody waits for it.
                        return
                    }
                    self.state.wakeRechecks()
                }
            }
            group.cancelAll()
        }
    }

    /// Looks at everything that is due.
    ///
    /// - Returns: When the next case is due; `nil` when there is none, or no vault key.
    /// - Throws: `CancellationError`, or the error of a store whose truth is unknown.
    func lookAgain() async throws -> WallTime? {
        guard vault.isOpen else { return nil }
        state.expectRecheck(at: nil)
        while true {
            let due = try await state.dueRechecks(
                under: vault.recheckKeyIDs,
                at: clock.now(),
                limit: Self.batchMax
            )
            guard !due.cases.isEmpty else {
                state.expectRecheck(at: due.nextDueAt)
                return due.nextDueAt
            }
            try await look(at: due.cases)
            guard due.cases.count == Self.batchMax else { continue }
            try await clock.sleep(until: clock.now() + Self.pause)
        }
    }
}

// MARK: - One batch

extension RecheckService {
    private func look(at cases: [DueRecheck]) async throws {
        let now = clock.now()
        var ended: [EndedRecheck] = []
        var open: [(due: DueRecheck, user: UserID)] = []
        for due in cases {
            do throws(VaultError) {
                open.append((due, try vault.openRecheck(due.sealed)))
            } catch {
                ended.append(unopened(due, error, at: now))
            }
        }
        let findings = try await ask(about: open, at: now)
        for (due, _) in open {
            ended.append(end(due, findings[due.sealed.request] ?? [:], at: now))
        }
        let outcomes = ended
        let recorded = try await state.persist(clock) { try await $0.endRechecks(outcomes) }
        for ended in recorded { report(ended) }
    }

    private func unopened(_ due: DueRecheck, _ error: VaultError, at now: WallTime) -> EndedRecheck
    {
        guard error.kind == .broken else {
            let retry = EndedRecheck.Next.due(
                now + Self.retryMax,
                stage: due.stage,
                openedAt: due.openedAt
            )
            return EndedRecheck(due, nil, next: retry)
        }
        return EndedRecheck(due, Recheck(at: now, .unreadable), next: .closed)
    }

    /// Asks every store once for all of its cases.
    private func ask(
        about open: [(due: DueRecheck, user: UserID)],
        at now: WallTime
    ) async throws -> [RequestID: [TargetName: Finding]] {
        let targets = registry.current.targets
        let paused = try await state.pauses().targets
        var findings: [RequestID: [TargetName: Finding]] = [:]
        for name in Set(open.flatMap(\.due.targets)).sorted() {
            let concerned = open.filter { $0.due.targets.contains(name) }
            let known = concerned.filter { Self.isKnown($0.due, in: targets[name]) }
            for entry in concerned {
                findings[entry.due.sealed.request, default: [:]][name] = .missing
            }
            guard let target = targets[name], !known.isEmpty else { continue }
            let orders = known.map {
                PurgeOrder(request: $0.due.sealed.request, user: $0.user, cutoff: $0.due.cutoff)
            }
            let answers = await ask(target, orders, isPaused: paused[name] != nil, at: now)
            for (entry, answer) in zip(known, answers) {
                findings[entry.due.sealed.request, default: [:]][name] = answer
            }
        }
        return findings
    }

    /// Whether a store can be asked about a case.
    ///
    /// After the last look the ids of its own are gone; one by which data came back is kept again.
    private static func isKnown(_ due: DueRecheck, in target: (any PurgeTarget)?) -> Bool {
        guard let target, due.isReopened else { return true }
        guard let keyed = target as? KeyedTarget else { return !due.isNameless }
        return due.returnedTo.contains(target.name) && due.keyNames.contains(keyed.erasedName)
    }

    /// A store that just failed, or is paused, is left alone for a while.
    private func ask(
        _ target: any PurgeTarget,
        _ orders: [PurgeOrder],
        isPaused: Bool,
        at now: WallTime
    ) async -> [Finding] {
        let retryAt = failures.withLock { $0[target.name]?.retryAt ?? .distantPast }
        guard retryAt <= now, !isPaused else {
            let until = isPaused ? failed(target.name, at: now) : retryAt
            return orders.map { _ in .unknown(retryAt: until) }
        }
        let answers = await target.verify(orders).map(\.ofRecheck)
        let isAway = answers.allSatisfy { if case .failure = $0 { true } else { false } }
        let until = isAway ? failed(target.name, at: now) : now + Self.retryMax
        if !isAway {
            _ = failures.withLock { $0.removeValue(forKey: target.name) }
            counter.answered(target.name)
        }
        return answers.map { answer in
            switch answer {
            case .clean: .clean
            case .remaining(let count): .remaining(count)
            case .notLookedFor: .missing
            case .failure: .unknown(retryAt: until)
            }
        }
    }

    /// - Returns: When to ask the target again.
    private func failed(_ target: TargetName, at now: WallTime) -> WallTime {
        failures.withLock { failures in
            var failure = failures[target] ?? EffectFailure()
            guard failure.retryAt <= now else { return failure.retryAt }
            let delay = Self.retryMin * (1 << min(failure.failures, 16))
            failure.failures += 1
            failure.retryAt = now + min(delay, Self.retryMax)
            failures[target] = failure
            return failure.retryAt
        }
    }

    private func end(
        _ due: DueRecheck,
        _ findings: [TargetName: Finding],
        at now: WallTime
    ) -> EndedRecheck {
        let intervals = registry.current.configuration.requests.rechecks
        var recheck = Recheck(at: now, .clean)
        var retryAt: WallTime?
        for name in due.targets {
            switch findings[name] {
            case .clean?: break
            case .remaining(let count)?:
                recheck.found.append(Recheck.Found(target: name, rowCount: count))
            case .missing?, nil: recheck.missing.append(name)
            case .unknown(let time)?:
                retryAt = max(retryAt ?? time, time)
                warn(about: name, due, intervals, at: now)
            }
        }
        if !recheck.found.isEmpty {
            // Nobody has seen the others clean.
            recheck.found += due.suspects.filter { suspect in
                switch findings[suspect.target] {
                case .missing?, .unknown?, nil: true
                case .clean?, .remaining?: false
                }
            }
            let again = now + (intervals.first ?? Self.againAfter)
            let returned = Recheck(
                at: now,
                .returned,
                found: recheck.found,
                missing: recheck.missing
            )
            return EndedRecheck(due, returned, next: .due(again, stage: 0, openedAt: now))
        }
        if let retryAt {
            let later = EndedRecheck.Next.due(retryAt, stage: due.stage, openedAt: due.openedAt)
            return EndedRecheck(due, nil, next: later)
        }
        // Where data came back to and nobody can look, nothing is clean.
        let isBlind = due.suspects.contains { recheck.missing.contains($0.target) }
        if isBlind || recheck.missing == due.targets {
            recheck = Recheck(at: now, .unverified, missing: recheck.missing)
        }
        // What fell due while nobody could look is covered by this look.
        let stages = intervals.enumerated().dropFirst(due.stage + 1)
        guard let next = stages.first(where: { due.openedAt + $0.element > now }) else {
            return EndedRecheck(due, recheck, next: .closed)
        }
        let dueAt = due.openedAt + next.element
        return EndedRecheck(
            due,
            recheck,
            next: .due(dueAt, stage: next.offset, openedAt: due.openedAt)
        )
    }

    private func warn(
        about target: TargetName,
        _ due: DueRecheck,
        _ intervals: [Duration],
        at now: WallTime
    ) {
        let planned = intervals.indices.contains(due.stage) ? intervals[due.stage] : .zero
        guard now.since(due.openedAt + planned) > Self.overdueAfter,
            counter.mayWarn(target, at: now)
        else { return }
        logger.note(.recheckOverdue, ["target": "\(target)"])
    }

    private func report(_ ended: EndedRecheck) {
        guard let recheck = ended.recheck else { return }
        let id = ended.due.sealed.request
        counter.count(recheck.outcome)
        for found in recheck.found {
            logger.note(
                .dataReturned,
                [
                    "request.id": "\(id)", "target": "\(found.target)",
                    "count": "\(found.rowCount)",
                ]
            )
        }
        guard ended.next == .closed else { return }
        logger.note(
            .recheckClosed,
            ["request.id": "\(id)", "detail": "\(recheck.outcome.rawValue)"]
        )
    }
}

extension VerifyAnswer {
    /// A row of the future is of a later life: nothing that the deletion took came back.
    fileprivate var ofRecheck: VerifyAnswer {
        if case .failure(.blocked(let obstacle)) = self, obstacle.kind == .future { return .clean }
        return self
    }
}
