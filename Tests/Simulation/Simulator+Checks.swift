import Lifecycle

/// The invariants, asserted after every step.
extension Simulator {
    mutating func check() {
        for id in acknowledged where disk.requests[id] == nil {
            world.violations.append("I-1: an acknowledged request is lost")
        }
        for row in disk.requests.values {
            check(row)
            checkFinals(row.request)
        }
        for (key, id) in answered where disk.idempotency[key] != id {
            world.violations.append("I-8: a key that was answered is forgotten")
        }
        checkRotation()
        checkLaterLives()
    }

    /// I-7: however often a step is repeated, after a crash or a lost answer, what is over stays as
    /// it is.
    private mutating func checkFinals(_ request: Request) {
        guard let before = seen.updateValue(request, forKey: request.id), before != request else {
            return
        }
        // What a clock that was behind has had purged is purged again.
        let isReclocked = now.since(clockSetAt) <= .seconds(60)
        guard !isReclocked, !world.reopened.contains(request.id) else { return }
        let over = Finals(before)
        guard !over.allows(request) else { return }
        world.violations.append("I-7: a step that was over is undone: \(over)")
    }

    /// I-3: what the vault has taken is revoked before rows go; from then on it takes nothing.
    private mutating func checkCredentials(_ row: SimulatedDisk.Row) {
        let request = row.request
        guard request.phase == .completed || request.phase.stage.map({ $0 >= .purging }) ?? false
        else { return }
        let known = Set(request.revocations.flatMap { $0.credentials.map(\.id) })
        for identity in disk.identities.values where identity.user == row.user {
            guard !identity.credentials.allSatisfy({ known.contains($0.id) }) else { continue }
            world.violations.append("I-3: purging beside a credential that nobody has revoked")
        }
    }

    private mutating func check(_ row: SimulatedDisk.Row) {
        let request = row.request
        if let stage = request.phase.stage, stage >= .purging, request.openRevocationCount > 0 {
            world.violations.append("I-3: purging with an open revocation")
        }
        if request.kind == .deleteAccount { checkCredentials(row) }
        for revocation in request.revocations {
            guard revocation.verdict == .proven || revocation.verdict == .accepted else { continue }
            if world.liveTokenCount(user: row.user, provider: revocation.provider) > 0,
                !hasNewerCredential(row, revocation)
            {
                world.violations.append(
                    "I-4: \(revocation.verdict?.rawValue ?? "") and the token is live"
                )
            }
        }
        if request.phase == .completed, request.kind == .deleteAccount {
            for (store, rows) in world.rows
            where (rows[row.user] ?? 0) > 0
                && !(world.restored[store]?.contains(row.user) ?? false)
            {
                world.violations.append("completed with rows left in \(store)")
            }
            checkSpool(row)
            checkDates(row)
        }
        checkTiming(request)
    }

    private static let outages = Set(
        [EffectFailure.unreachable, .throttled(retryAfter: nil), .lost, .unusable].map(\.code)
    )

    /// I-10: an open request is due within a day, or parked with a reason, or waits for the lane.
    private mutating func checkTiming(_ request: Request) {
        // Until the commit that takes over a jump of the clock.
        guard !request.phase.isEnded, now.since(clockSetAt) > .seconds(60) else { return }
        let waitsForLane = request.revocations.contains { revocation in
            revocation.credentials.contains { $0.step == .codePending }
        }
        if let dueAt = request.dueAt, request.phase.parkReason == nil,
            request.phase.stage.map({ $0 > .scheduled }) ?? false, !waitsForLane,
            dueAt.since(clock) > .seconds(86_400 + 60)
        {
            world.violations.append("I-10: not due within a day: \(request)")
        }
        if request.dueAt == nil, request.phase.parkReason == nil, !waitsForLane {
            world.violations.append("I-10: open, not parked, and never due")
        }
        let works = request.revocations.map(\.retry) + request.purges.map(\.retry)
        for case (.some(let failure), .some(let next)) in works.map({ ($0.lastFailure, $0.nextAt) })
        where Self.outages.contains(failure) && next.since(clock) > .seconds(360) {
            world.violations.append("an outage is not retried within minutes: \(request)")
        }
    }

    /// A sign-in after the request made a new credential that the request has not seen yet.
    private func hasNewerCredential(_ row: SimulatedDisk.Row, _ revocation: Revocation) -> Bool {
        let known = Set(row.request.revocations.flatMap { $0.credentials.map(\.id) })
        // A link of the directory ends with the identities of its provider.
        return disk.identities.values.contains { identity in
            (identity.id == revocation.identity
                || revocation.isLinked && identity.user == row.user
                    && identity.provider == revocation.provider)
                && identity.credentials.contains {
                    $0.step == .codePending || !known.contains($0.id) && !$0.step.isFinal
                }
        }
    }
}
