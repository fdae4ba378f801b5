import Lifecycle

/// Keeping tokens alive: the lowest lane.
///
/// ```
/// tended daily ──▶ due ──▶ intent (durable) ──▶ refresh ──▶ outcome (durable)
///   enrols, warns            owns the identity from here to the end
/// ```
///
/// A renewal begins only while nothing else waits for its provider, one at a time, in a slot of its
/// own: it never takes a deletion's. What it needs is read in the commit of its intent, when the
/// identity is its own already, so no token is sent that somebody else has rotated away.
struct RenewalBook: Sendable {
    var policies: [ProviderName: KeepAlivePolicy] = [:]
    var queued: [ProviderName: [DueRenewal]] = [:]
    var open: [CredentialID: Open] = [:]
    /// When the state enrols new tokens and looks for dying ones; `nil` while it does.
    var tendAt: WallTime? = .distantPast
    /// When due tokens are looked for; `nil` when there is nothing to look for, or while that is
    /// under way.
    var searchAt: WallTime?

    struct Open: Sendable {
        let due: DueRenewal
        let begunAt: WallTime
        /// Known once the intent is durable.
        var partition: Partition?
        /// The partition is another host's: the answer is not recorded.
        var isLost = false
    }
}

extension EngineCore {
    /// A state that may be an old copy must refresh nothing: its tokens may be used up.
    private var mayRenew: Bool { environment.isVaultOpen && !environment.isRestrained && mayFetch }

    mutating func fillRenewals(at now: WallTime) {
        guard !renewals.policies.isEmpty else { return }
        if let tendAt = renewals.tendAt, tendAt <= now {
            renewals.tendAt = nil
            record(.tendRenewals(renewals.policies, at: now))
        }
        guard mayRenew else { return }
        for name in laneOrder where !(renewals.queued[name] ?? []).isEmpty {
            beginRenewals(at: name, now)
        }
        guard let searchAt = renewals.searchAt, searchAt <= now, renewals.queued.isEmpty else {
            return
        }
        let names = laneOrder.filter { name in
            (renewals.policies[name]?.isKeptAlive ?? false) && isOpen(name, at: now)
        }
        renewals.searchAt = names.isEmpty ? reopening(after: now) : nil
        guard !names.isEmpty else { return }
        actions.append(
            .findRenewals(names, limit: Limits.renewalsPerSearch, in: ownership.open)
        )
    }

    private func isOpen(_ name: ProviderName, at now: WallTime) -> Bool {
        !environment.pausedProviders.contains(name) && lanes[name]?.mayPass(at: now) ?? false
    }

    /// When the first provider with an open breaker may be asked; a renewal can be the probe.
    private func reopening(after now: WallTime) -> WallTime? {
        let times = renewals.policies.keys.compactMap { lanes[$0]?.opensAt }
        return times.filter { $0 > now }.min()
    }

    private mutating func beginRenewals(at name: ProviderName, _ now: WallTime) {
        guard let policy = renewals.policies[name], policy.isKeptAlive, isOpen(name, at: now)
        else {
            renewals.queued[name] = nil
            return
        }
        while let due = renewals.queued[name]?.first {
            guard identities.owners[due.identity] == nil, renewals.open[due.credential] == nil
            else {
                // Whoever has it may refresh it; the next search finds it.
                dropFirst(name)
                continue
            }
            guard lanes[name]?.beginRenewal(at: now) ?? false else { return }
            dropFirst(name)
            identities.owners[due.identity] = .renewal
            renewals.open[due.credential] = RenewalBook.Open(due: due, begunAt: now)
            record(.beginRenewal(due.credential, policy, at: now))
        }
    }

    private mutating func dropFirst(_ name: ProviderName) {
        renewals.queued[name]?.removeFirst()
        if renewals.queued[name]?.isEmpty ?? false { renewals.queued[name] = nil }
    }

    func renewalTimes(after now: WallTime) -> [WallTime] {
        guard !renewals.policies.isEmpty else { return [] }
        let searchAt = mayRenew && renewals.queued.isEmpty ? renewals.searchAt : nil
        let paces =
            mayRenew ? renewals.queued.keys.compactMap { lanes[$0]?.renewalChance(now) } : []
        return [renewals.tendAt, searchAt].compactMap(\.self) + paces
    }

    mutating func adoptRenewals() {
        renewals.policies = configuration.providers.compactMapValues(\.keepAlive)
        renewals.tendAt = renewals.tendAt.map { _ in .distantPast }
    }

    mutating func found(_ due: DueRenewals, at now: WallTime) {
        for renewal in due.renewals where renewals.open[renewal.credential] == nil {
            renewals.queued[renewal.provider, default: []].append(renewal)
        }
        // What is due and cannot begin must not be looked for in a loop.
        let soonest = now + Limits.renewalSearchPause
        let next = due.renewals.isEmpty ? due.nextDueAt : soonest
        renewals.searchAt = [next, reopening(after: now)].compactMap(\.self).min().map {
            max($0, soonest)
        }
    }

    mutating func learnOfRenewal(_ update: ChangeUpdate, at now: WallTime) {
        switch update {
        case .renewalsTended(let expiring, let goesOn):
            let pause = goesOn ? Limits.renewalSearchPause : Limits.renewalTendPeriod
            renewals.tendAt = now + pause
            renewals.searchAt = now
            for (name, count) in expiring.sorted(by: { $0.key < $1.key }) {
                actions.append(.report(.tokensExpiring(name, count: count)))
            }
        case .renewalBegun(let id, let sealed):
            guard let open = renewals.open[id] else { return }
            if let sealed, ownership.isOpen(Partition(userHash: sealed.userHash)) {
                renewals.open[id]?.partition = Partition(userHash: sealed.userHash)
                actions.append(.renew(sealed))
            } else {
                lanes[open.due.provider]?.renewalEnded()
                lanes[open.due.provider]?.gaveUp(isCode: false, at: now)
                endRenewal(id, at: now)
            }
        case .renewalEnded(let id, let identityUpdate):
            if let identityUpdate { spread(identityUpdate, at: now) }
            endRenewal(id, at: now)
        case .identity, .wakeGoesOn:
            break
        }
    }

    private mutating func endRenewal(_ id: CredentialID, at now: WallTime) {
        guard let due = renewals.open.removeValue(forKey: id)?.due else { return }
        guard identities.owners[due.identity] == .renewal else { return }
        release(due.identity, at: due.provider, now: now)
    }

    mutating func renewed(_ id: CredentialID, _ answer: CheckAnswer, at now: WallTime) {
        guard let open = renewals.open[id] else { return }
        let name = open.due.provider
        lanes[name]?.renewalEnded()
        providerAnswered(name, .renewal(id), failure: answer.failure, at: now)
        if answer.failure == .misconfigured {
            pause(name, reason: EffectFailure.misconfigured.code, at: now)
        }
        let outcome = outcome(of: answer, for: open, at: now)
        let result: RenewalResult =
            switch outcome {
            case .kept: .kept
            case .refused: .refused
            case .failed, .unreadable: .failed
            }
        guard !open.isLost else { return endRenewal(id, at: now) }
        nextBatch.reports.append(.tokenRenewed(name, result))
        record(
            .endRenewal(
                EndedRenewal(credential: id, begunAt: open.begunAt, outcome: outcome),
                at: now
            )
        )
    }

    private func outcome(
        of answer: CheckAnswer,
        for open: RenewalBook.Open,
        at now: WallTime
    ) -> EndedRenewal.Outcome {
        let id = open.due.credential
        guard let policy = renewals.policies[open.due.provider] else {
            return .failed(retryAt: now + Limits.renewalRetryMax, isInDoubt: false)
        }
        func failed(isInDoubt: Bool) -> EndedRenewal.Outcome {
            let retryAt = policy.retryTime(failures: open.due.failures + 1, after: now, id)
            return .failed(retryAt: retryAt, isInDoubt: isInDoubt && policy.mayRotate)
        }
        switch answer {
        case .live:
            return .kept(
                dueAt: policy.renewalTime(usedAt: now, id),
                warnAt: policy.warningTime(usedAt: now, expiresAt: nil)
            )
        case .dead: return .refused
        case .unknown: return failed(isInDoubt: true)
        case .failure(.sealBroken): return .unreadable
        case .failure(.lost), .failure(.unusable): return failed(isInDoubt: true)
        case .failure(.vaultSealed), .failure(.misconfigured), .failure(.throttled),
            .failure(.unreachable), .failure(.rejected), .failure(.refused),
            .failure(.refusesAll), .failure(.notConfigured), .failure(.keys), .failure(.blocked):
            return failed(isInDoubt: false)
        }
    }
}
