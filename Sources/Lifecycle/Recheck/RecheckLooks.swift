/// A recheck that is due, with the user id that it keeps.
package struct OpenRecheck: Hashable, Sendable {
    package let due: DueRecheck
    package let user: UserID

    package init(due: DueRecheck, user: UserID) { (self.due, self.user) = (due, user) }
}

/// A recheck that is due, and whose user id could not be opened.
package struct UnopenedRecheck: Hashable, Sendable {
    package let due: DueRecheck
    /// Its bits are damaged, or its vault key is lost; otherwise the key may come back.
    package let isLost: Bool

    package init(due: DueRecheck, isLost: Bool) { (self.due, self.isLost) = (due, isLost) }
}

/// Rechecks that are verified together, each store once for all of them.
package struct RecheckLooks: Hashable, Sendable {
    /// What became of one store of a deletion.
    enum Finding: Hashable, Sendable {
        case clean
        case remaining(Int)
        /// Not configured any more, or no ids are known by which it knows the user.
        case missing
        case unknown(retryAt: WallTime)
    }

    let startedAt: WallTime
    let open: [OpenRecheck]
    let pausedTargets: Set<TargetName>
    var ended: [EndedRecheck]
    var findings: [RequestID: [TargetName: Finding]] = [:]
    /// Stores that were not asked yet; the first one is.
    var rest: [TargetName]
    /// The rechecks that are asked about there.
    var asked: [OpenRecheck] = []

    init(_ page: DuePage, at now: WallTime) {
        startedAt = now
        open = page.opened
        pausedTargets = page.pausedTargets
        rest = Set(open.flatMap(\.due.targets)).sorted()
        ended = page.unopened.map { unopened in
            let due = unopened.due
            guard !unopened.isLost else {
                return EndedRecheck(due, Recheck(at: now, .unreadable), next: .closed)
            }
            let later = now + RecheckRun.retryMax
            return EndedRecheck(
                due,
                nil,
                next: .due(later, stage: due.stage, openedAt: due.openedAt)
            )
        }
    }

    var effect: RecheckEffect? {
        guard let name = rest.first, !asked.isEmpty else { return nil }
        let orders = asked.map { asked in
            ErasureOrder(
                request: asked.due.sealed.request,
                user: asked.user,
                cutoff: asked.due.cutoff
            )
        }
        return .store(name, .usual, .verify(orders))
    }

    mutating func note(_ finding: Finding, of recheck: OpenRecheck, in name: TargetName) {
        findings[recheck.due.sealed.request, default: [:]][name] = finding
    }
}

/// The rechecks of completed deletions: they only verify.
extension RecheckRun {
    /// A store that cannot be rechecked for so long after its time is reported.
    package static let overdueAfter = Duration.seconds(3 * 86_400)
    /// A store that fails a recheck is asked again after this, twice that, and so on.
    static let retryMin = Duration.seconds(60)
    static let retryMax = Duration.seconds(6 * 3600)
    /// When data is back and no recheck is configured any more.
    package static let againAfter = Duration.seconds(86_400)
    /// Between two full batches: at most 2,500 rechecks a second, so that a million that became due
    /// while the service was down leave the stores to the application and to new deletions.
    static let batchPause = Duration.milliseconds(50)

    /// Goes to the next store that can be asked, or decides about all rechecks.
    mutating func goOn(
        _ looks: RecheckLooks,
        _ now: WallTime,
        _ environment: RecheckEnvironment
    ) -> Step {
        var looks = looks
        while let name = looks.rest.first {
            let concerned = looks.open.filter { $0.due.targets.contains(name) }
            for recheck in concerned { looks.note(.missing, of: recheck, in: name) }
            if let store = environment.store(name) {
                looks.asked = concerned.filter { Self.isKnown($0.due, in: store) }
                let retryAt = retries[name]?.wait(at: looks.startedAt)
                let isPaused = looks.pausedTargets.contains(name)
                if retryAt == nil, !isPaused, !looks.asked.isEmpty {
                    return .enter(.looking(looks))
                }
                let until = isPaused ? fail(name, at: looks.startedAt) : retryAt
                for recheck in looks.asked {
                    looks.note(.unknown(retryAt: until ?? now), of: recheck, in: name)
                }
            }
            looks.rest.removeFirst()
        }
        let ended =
            looks.ended
            + looks.open.map { recheck in
                let findings = looks.findings[recheck.due.sealed.request] ?? [:]
                return decide(recheck.due, findings, at: looks.startedAt, environment)
            }
        return .enter(.closing(ended))
    }

    mutating func looked(
        _ asked: RecheckLooks,
        _ answers: [VerifyAnswer],
        _ now: WallTime,
        _ environment: RecheckEnvironment
    ) -> Step {
        var looks = asked
        guard let name = looks.rest.first else { return .next }
        let isAway = answers.allSatisfy {
            if case .failure(let failure) = $0 { !failure.isOfLaterLife } else { false }
        }
        let until =
            isAway ? fail(name, at: looks.startedAt) : looks.startedAt + Self.retryMax
        if !isAway {
            retries[name] = nil
            announcements.append(.answered(name))
        }
        for (recheck, answer) in zip(looks.asked, answers) {
            let finding: RecheckLooks.Finding =
                switch answer {
                case .clean: .clean
                case .remaining(let count): .remaining(count)
                case .notLookedFor: .missing
                case .failure(let failure):
                    failure.isOfLaterLife ? .clean : .unknown(retryAt: until)
                }
            looks.note(finding, of: recheck, in: name)
        }
        looks.rest.removeFirst()
        return goOn(looks, now, environment)
    }

    /// Whether a store can be asked about a recheck.
    ///
    /// After the last recheck the ids of the store itself are gone; one by which data returned is
    /// kept again.
    private static func isKnown(_ due: DueRecheck, in store: RecheckStore) -> Bool {
        guard due.isReopened else { return true }
        guard let keyName = store.keyName else { return !due.isNameless }
        return due.returnedTo.contains(store.name) && due.keyNames.contains(keyName)
    }

    /// - Returns: When the store is asked again.
    private mutating func fail(_ name: TargetName, at now: WallTime) -> WallTime {
        var retry = retries[name] ?? Retry()
        if let time = retry.wait(at: now) { return time }
        retry.fail(doubling: Self.retryMin, cap: Self.retryMax, at: now)
        retries[name] = retry
        return retry.nextAt ?? now
    }

    private mutating func decide(
        _ due: DueRecheck,
        _ findings: [TargetName: RecheckLooks.Finding],
        at now: WallTime,
        _ environment: RecheckEnvironment
    ) -> EndedRecheck {
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
                warn(about: name, due, environment, at: now)
            }
        }
        if !recheck.found.isEmpty {
            return returned(due, recheck, findings, environment)
        }
        if let retryAt {
            let later = EndedRecheck.Next.due(retryAt, stage: due.stage, openedAt: due.openedAt)
            return EndedRecheck(due, nil, next: later)
        }
        // Where data returned and nothing can be asked, nothing is clean.
        let isBlind = due.suspects.contains { recheck.missing.contains($0.target) }
        if isBlind || recheck.missing == due.targets {
            recheck = Recheck(at: now, .unverified, missing: recheck.missing)
        }
        // What fell due while a store was away is covered by this recheck.
        let stages = environment.intervals.enumerated().dropFirst(due.stage + 1)
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

    /// Data is back: the rechecks begin again from the first.
    private func returned(
        _ due: DueRecheck,
        _ recheck: Recheck,
        _ findings: [TargetName: RecheckLooks.Finding],
        _ environment: RecheckEnvironment
    ) -> EndedRecheck {
        // No recheck has seen the others clean.
        let unseen = due.suspects.filter { suspect in
            switch findings[suspect.target] {
            case .missing?, .unknown?, nil: true
            case .clean?, .remaining?: false
            }
        }
        let returned = Recheck(
            at: recheck.at,
            .returned,
            found: recheck.found + unseen,
            missing: recheck.missing
        )
        let again = recheck.at + (environment.intervals.first ?? Self.againAfter)
        return EndedRecheck(due, returned, next: .due(again, stage: 0, openedAt: recheck.at))
    }

    private mutating func warn(
        about name: TargetName,
        _ due: DueRecheck,
        _ environment: RecheckEnvironment,
        at now: WallTime
    ) {
        let intervals = environment.intervals
        let planned = intervals.indices.contains(due.stage) ? intervals[due.stage] : .zero
        guard now.since(due.openedAt + planned) > Self.overdueAfter else { return }
        announcements.append(.overdue(name))
    }
}

extension EffectFailure {
    /// A row of the future is of a later life: nothing that the deletion purged is back.
    fileprivate var isOfLaterLife: Bool { obstacle?.kind == .future }
}
