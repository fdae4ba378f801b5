/// Holds, purges and what verification says of them.
extension RecheckRun {
    mutating func checkHolds(
        _ batch: RecheckBatch,
        _ holds: [StoreHold],
        _ users: UsersOnHold,
        _ context: inout RecheckContext
    ) -> Step {
        var batch = batch
        let ours = holds.filter { $0.store == batch.store }
        // A hold on rows of a source holds what they name, and here nothing says which that is.
        let isNamed = batch.view == .own || batch.led?.isLate == true
        let sources = isNamed ? context.environment.sources(of: batch.store) : []
        guard ours.allSatisfy({ $0.rows != nil }),
            !holds.contains(where: { sources.contains($0.store) })
        else {
            batch.failure = ParkReason.onHold.rawValue
            return finish(batch, &context)
        }
        batch.holds = ours
        batch.held += batch.open.filter { users.includes($0.tombstone) }
        batch.open.removeAll { users.includes($0.tombstone) }
        if !batch.held.isEmpty { batch.failure = ParkReason.onHold.rawValue }
        guard !batch.open.isEmpty else { return finish(batch, &context) }
        return .enter(!batch.isNoted && !isDrill ? .noting(batch) : .purging(batch))
    }

    mutating func verified(
        _ batch: RecheckBatch,
        _ answers: [VerifyAnswer],
        _ context: inout RecheckContext
    ) -> Step {
        switch batch.purpose {
        case .examine:
            for (work, answer) in zip(batch.open, answers) {
                examine(work.order, batch.store, answer, context)
            }
            return .next
        case .leave:
            leave(batch, answers, context)
            return .next
        case .erase:
            return erased(batch, answers, &context)
        }
    }

    private mutating func examine(
        _ order: ErasureOrder,
        _ name: StoreName,
        _ answer: VerifyAnswer,
        _ context: RecheckContext
    ) {
        switch answer {
        case .clean, .notLookedFor: break
        case .failure(let failure): report.change(name) { $0.error = failure.code }
        case .remaining(let count):
            report.change(name) { store in
                store.found += 1
                store.rows += count
            }
            guard case .sample = kind else { return }
            let key = context.store(name)?.keyName
            findings.append(RecheckFinding(order: order, store: name, rowCount: count, key: key))
        }
    }

    private mutating func leave(
        _ batch: RecheckBatch,
        _ answers: [VerifyAnswer],
        _ context: RecheckContext
    ) {
        // What the rows of its source led to, and was left, was counted then.
        let known = counted[batch.store] ?? []
        let reason = context.store(batch.store)?.withoutTimestamps ?? ""
        let advice =
            terms.restoredAt == nil
            ? ", so this may be of an account that was registered anew; if all was restored, say"
                + " when with --restored-at"
            : ", and the erasure was after --restored-at: this came from elsewhere"
        report.change(batch.store) { store in
            for (work, answer) in zip(batch.open, answers) {
                switch answer {
                case .clean, .notLookedFor: break
                case .failure(let failure): store.error = store.error ?? failure.code
                case .remaining(let count):
                    guard !known.contains(work.order.request) else { continue }
                    store.found += 1
                    store.newer += count
                    guard store.error == nil else { continue }
                    (store.error, store.detail) = ("undated", reason + advice)
                }
            }
        }
    }

    private mutating func erased(
        _ batch: RecheckBatch,
        _ answers: [VerifyAnswer],
        _ context: inout RecheckContext
    ) -> Step {
        var batch = batch
        var left: [RecheckBatch.Work] = []
        var isOnlyStopped = true
        for (work, (purged, verified)) in zip(batch.open, zip(batch.answers, answers)) {
            guard let cause = Self.failure(purged, verified) else {
                batch.done.append(work)
                continue
            }
            batch.failure = cause
            isOnlyStopped = isOnlyStopped && Self.isStopped(purged, verified)
            left.append(work)
        }
        batch.open = left
        batch.answers = []
        if isOnlyStopped, !left.isEmpty {
            let soon = context.now + RetryPolicy.replay.first
            return .enter(.waiting(until: soon, then: .checkingHolds(batch)))
        }
        let until = batch.retry.fail(.replay, at: context.now)
        guard !left.isEmpty, batch.retry.failures < Self.triesMax else {
            return finish(batch, &context)
        }
        let again: RecheckPhase = batch.view == .copy ? .purging(batch) : .checkingHolds(batch)
        return .enter(.waiting(until: until, then: again))
    }

    /// A hold came between, on whomever: nothing was tried, and the holds are read again.
    private static func isStopped(_ purged: PurgeAnswer, _ verified: VerifyAnswer) -> Bool {
        switch (purged, verified) {
        case (_, .failure): false
        case (.stopped, _): true
        default: false
        }
    }

    private static func failure(_ purged: PurgeAnswer, _ verified: VerifyAnswer) -> String? {
        switch (purged, verified) {
        case (.failure(let cause), _), (_, .failure(let cause)): cause.code
        case (.held, _), (.stopped, _), (.halted, _): ParkReason.onHold.rawValue
        case (.done(let counts), .remaining):
            counts.isAccepted ? nil : Obstacle.Kind.remaining.rawValue
        case (.done, .clean), (.done, .notLookedFor): nil
        }
    }

    private mutating func finish(_ ended: RecheckBatch, _ context: inout RecheckContext) -> Step {
        var batch = ended
        batch.open += batch.held
        batch.held = []
        let name = batch.store
        let leftBehind = batch.open + batch.done.filter { $0.newer > 0 }
        let isKeyed =
            batch.led == nil && batch.view != .usual && context.store(name)?.keyName != nil
        // What the rows of its source led to, and was left, is found again where the store lists
        // it.
        let known = isKeyed ? counted[name] ?? [] : []
        if !isKeyed { counted[name, default: []].formUnion(leftBehind.map(\.order.request)) }
        let erased = batch.done.filter(\.isErased)
        report.change(name) { store in
            store.found += erased.count
            store.found += batch.open.count { !known.contains($0.order.request) }
            store.erased += erased.count
            store.rows += erased.reduce(0) { $0 + $1.rows }
            store.newer += leftBehind.reduce(0) {
                known.contains($1.order.request) ? $0 : $0 + $1.newer
            }
            if !batch.open.isEmpty { store.error = batch.failure }
        }
        guard !isDrill, !batch.done.isEmpty else { return follow(batch, &context) }
        let records = batch.done.map { work in
            EndedErasure(
                batch.begun(work),
                rows: work.rows,
                isResumed: work.isResumed && work.isErased
            )
        }
        return .enter(.recording(batch, records))
    }

    var returned: [ReturnedUser] {
        let byRequest = Dictionary(grouping: findings, by: \.order.request)
        return byRequest.sorted { $0.key < $1.key }.map { request, findings in
            let rows = Dictionary(findings.map { ($0.store, $0.rowCount) }, uniquingKeysWith: +)
            return ReturnedUser(
                request: request,
                user: findings.first { $0.key == nil }?.order.user,
                found: rows.sorted { $0.key < $1.key }.map {
                    Recheck.Found(store: $0.key, rowCount: $0.value)
                },
                keys: findings.compactMap { finding in
                    finding.key.map { ReturnedUser.Key(name: $0, id: finding.order.user) }
                }
            )
        }
    }
}
