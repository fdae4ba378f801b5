/// The rechecks of completed deletions: they only verify.
extension RecheckRun {
    /// A store that cannot be rechecked for so long after its time is reported.
    package static let overdueAfter = Duration.seconds(3 * 86_400)
    /// A recheck waits no longer for the answer of one store, or for a key.
    static let waitMax = RetryPolicy.recheck.delay(failures: .max)
    /// When data is back and no recheck is configured any more.
    package static let againAfter = Duration.seconds(86_400)
    /// A store that stays overdue is reported once in this time.
    static let warningInterval = Duration.seconds(86_400)
    /// Between two full batches: at most 2,500 rechecks a second, so that a million that became due
    /// while the service was down leave the stores to the application and to new deletions.
    static let batchPause = Duration.milliseconds(50)

    /// When the recheck record of a deletion is opened, and when its first recheck is due.
    ///
    /// `nil` without rechecks, or before the deletion has ended.
    package static func opening(
        of request: Request,
        intervals: [Duration]
    ) -> (openedAt: WallTime, dueAt: WallTime)? {
        guard let first = intervals.first, let endedAt = request.endedAt,
            request.purges.contains(where: { !$0.counts.isGivenUp })
        else { return nil }
        return (endedAt, endedAt + first)
    }

    mutating func goOn(_ started: RecheckGroup, _ context: RecheckContext) -> Step {
        var group = started
        while let name = group.rest.first {
            let concerned = group.open.filter { $0.due.stores.contains(name) }
            for recheck in concerned { group.note(.missing, of: recheck, in: name) }
            if let store = context.store(name) {
                group.asked = concerned.filter { Self.isKnown($0.due, in: store) }
                let retryAt = retries[name]?.wait(at: group.startedAt)
                let isPaused = group.pausedStores.contains(name)
                if retryAt == nil, !isPaused, !group.asked.isEmpty {
                    return .enter(.rechecking(group))
                }
                let until = isPaused ? fail(name, at: group.startedAt) : retryAt
                for recheck in group.asked {
                    group.note(.unknown(retryAt: until ?? context.now), of: recheck, in: name)
                }
            }
            group.rest.removeFirst()
        }
        let ended =
            group.ended
            + group.open.map { recheck in
                let findings = group.findings[recheck.due.sealed.request] ?? [:]
                return decide(recheck.due, findings, at: group.startedAt, context)
            }
        return .enter(.closing(ended))
    }

    mutating func rechecked(
        _ asked: RecheckGroup,
        _ answers: [VerifyAnswer],
        _ context: RecheckContext
    ) -> Step {
        var group = asked
        guard let name = group.rest.first else { return .next }
        let isAway = answers.allSatisfy {
            if case .failure(let failure) = $0 { !failure.isOfLaterLife } else { false }
        }
        let until =
            isAway ? fail(name, at: group.startedAt) : group.startedAt + Self.waitMax
        if !isAway {
            (retries[name], warnedAt[name]) = (nil, nil)
            announcements.append(.answered(name))
        }
        for (recheck, answer) in zip(group.asked, answers) {
            let finding: RecheckGroup.Finding =
                switch answer {
                case .clean: .clean
                case .remaining(let count): .remaining(count)
                case .notLookedFor: .missing
                case .failure(let failure):
                    failure.isOfLaterLife ? .clean : .unknown(retryAt: until)
                }
            group.note(finding, of: recheck, in: name)
        }
        group.rest.removeFirst()
        return goOn(group, context)
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

    private mutating func fail(_ name: StoreName, at now: WallTime) -> WallTime {
        var retry = retries[name] ?? Retry()
        if let time = retry.wait(at: now) { return time }
        let time = retry.fail(.recheck, at: now)
        retries[name] = retry
        return time
    }

    private mutating func decide(
        _ due: DueRecheck,
        _ findings: [StoreName: RecheckGroup.Finding],
        at now: WallTime,
        _ context: RecheckContext
    ) -> EndedRecheck {
        var recheck = Recheck(at: now, .clean)
        var retryAt: WallTime?
        for name in due.stores {
            switch findings[name] {
            case .clean?: break
            case .remaining(let count)?:
                recheck.found.append(Recheck.Found(store: name, rowCount: count))
            case .missing?, nil: recheck.missing.append(name)
            case .unknown(let time)?:
                retryAt = max(retryAt ?? time, time)
                warn(about: name, due, context, at: now)
            }
        }
        if !recheck.found.isEmpty {
            return returned(due, recheck, findings, context)
        }
        if let retryAt {
            let later = EndedRecheck.Next.due(retryAt, stage: due.stage, openedAt: due.openedAt)
            return EndedRecheck(due, nil, next: later)
        }
        // Where data returned and nothing can be asked, nothing is clean.
        let isBlind = due.suspects.contains { recheck.missing.contains($0.store) }
        if isBlind || recheck.missing == due.stores {
            recheck = Recheck(at: now, .unverified, missing: recheck.missing)
        }
        // What fell due while a store was away is covered by this recheck.
        let stages = context.environment.intervals.enumerated().dropFirst(due.stage + 1)
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

    private func returned(
        _ due: DueRecheck,
        _ recheck: Recheck,
        _ findings: [StoreName: RecheckGroup.Finding],
        _ context: RecheckContext
    ) -> EndedRecheck {
        // No recheck has seen the others clean.
        let unseen = due.suspects.filter { suspect in
            switch findings[suspect.store] {
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
        let again = recheck.at + (context.environment.intervals.first ?? Self.againAfter)
        return EndedRecheck(due, returned, next: .due(again, stage: 0, openedAt: recheck.at))
    }

    private mutating func warn(
        about name: StoreName,
        _ due: DueRecheck,
        _ context: RecheckContext,
        at now: WallTime
    ) {
        let intervals = context.environment.intervals
        let planned = intervals.indices.contains(due.stage) ? intervals[due.stage] : .zero
        guard now.since(due.openedAt + planned) > Self.overdueAfter else { return }
        if let last = warnedAt[name], now < last + Self.warningInterval { return }
        warnedAt[name] = now
        announcements.append(.overdue(name))
    }
}

extension EffectFailure {
    /// A row of the future is of a later life: nothing that the deletion purged is back.
    fileprivate var isOfLaterLife: Bool { obstacle?.kind == .future }
}
