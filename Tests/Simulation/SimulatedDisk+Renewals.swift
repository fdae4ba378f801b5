import Engine
import Lifecycle

/// Tokens that die unused, as the state database keeps them.
extension SimulatedDisk {
    /// One token on the list.
    struct Renewal {
        let provider: ProviderName
        var dueAt: WallTime?
        var warnAt: WallTime?
        var failures = 0
    }

    func dueRenewals(
        of providers: [ProviderName],
        at now: WallTime,
        limit: Int,
        in partitions: PartitionSet = .all
    ) -> DueRenewals {
        var due: [DueRenewal] = []
        var next: WallTime?
        for name in providers {
            let rows = renewals.filter { $0.value.provider == name && $0.value.dueAt != nil }
                .sorted { ($0.value.dueAt ?? now, $0.key) < ($1.value.dueAt ?? now, $1.key) }
            for (id, row) in rows.prefix(while: { ($0.value.dueAt ?? now) <= now }).prefix(limit) {
                guard let identity = identity(of: id), let user = identities[identity]?.user,
                    partitions.contains(Partition(userHash: Simulator.hash(of: user)))
                else { continue }
                due.append(
                    DueRenewal(
                        credential: id,
                        identity: identity,
                        provider: name,
                        failures: row.failures
                    )
                )
            }
            let later = rows.compactMap(\.value.dueAt).first { $0 > now }
            next = [next, later].compactMap(\.self).min()
        }
        return DueRenewals(renewals: due, nextDueAt: next)
    }

    mutating func tend(
        _ policies: [ProviderName: KeepAlivePolicy],
        at now: WallTime
    ) -> ChangeUpdate {
        for id in secrets.keys.sorted() where renewals[id] == nil {
            guard let name = identity(of: id).flatMap({ identities[$0]?.provider }),
                let policy = policies[name], work(id)?.kind == .refreshToken
            else { continue }
            let usedAt = usedAt(id, policy)
            renewals[id] = Renewal(
                provider: name,
                dueAt: policy.isKeptAlive ? policy.renewalTime(usedAt: usedAt, id) : nil,
                warnAt: policy.warningTime(usedAt: usedAt, expiresAt: nil)
            )
        }
        var expiring: [ProviderName: Int] = [:]
        for (id, row) in renewals {
            guard let warnAt = row.warnAt, warnAt <= now, let policy = policies[row.provider]
            else { continue }
            let again = policy.warningTime(usedAt: usedAt(id, policy), expiresAt: nil)
            renewals[id]?.warnAt = again > now ? again : nil
            if again <= now { expiring[row.provider, default: 0] += 1 }
        }
        return .renewalsTended(expiring: expiring, goesOn: false)
    }

    mutating func begin(
        _ id: CredentialID,
        _ policy: KeepAlivePolicy,
        at now: WallTime
    ) -> SealedCredential? {
        guard secrets[id] != nil, renewals[id] != nil, let identity = identity(of: id) else {
            return nil
        }
        let refreshedAt = work(id)?.lastRefreshAt.map { $0 + policy.refreshInterval }
        let dueAt = max(
            policy.renewalTime(usedAt: usedAt(id, policy), id),
            refreshedAt ?? .distantPast
        )
        guard dueAt <= now else {
            renewals[id]?.dueAt = dueAt
            return nil
        }
        let isRevoking = requests.values.contains { row in
            !row.request.phase.isEnded
                && row.request.revocations.contains {
                    $0.identity == identity && ($0.startedAt != nil || $0.verdict != nil)
                }
        }
        guard !isRevoking else {
            renewals[id]?.dueAt = now + .seconds(86_400)
            return nil
        }
        renewals[id]?.dueAt = now + max(Limits.renewalRetryMin, policy.refreshInterval)
        if policy.mayRotate {
            let liveAt = work(id)?.lastLiveAt ?? .distantPast
            if refreshBegunAt[id].map({ $0 <= liveAt }) ?? true { refreshBegunAt[id] = now }
        }
        change(id) { $0.lastRefreshAt = now }
        return sealed(id)
    }

    mutating func end(_ ended: EndedRenewal, at now: WallTime) -> IdentityUpdate? {
        let id = ended.credential
        if case .failed(_, true) = ended.outcome {
        } else if refreshBegunAt[id] == ended.begunAt {
            refreshBegunAt[id] = nil
        }
        switch ended.outcome {
        case .kept(let dueAt, let warnAt):
            refreshBegunAt[id] = nil
            noteLive(id, at: now)
            renewals[id]?.dueAt = dueAt
            renewals[id]?.warnAt = warnAt
            renewals[id]?.failures = 0
        case .refused:
            renewals[id]?.dueAt = nil
            renewals[id]?.warnAt = nil
        case .unreadable:
            renewals[id]?.dueAt = nil
        case .failed(let retryAt, let isInDoubt):
            renewals[id]?.dueAt = retryAt
            renewals[id]?.failures += 1
            guard isInDoubt, let identity = identity(of: id) else { return nil }
            noteUpdate(of: identity, at: now)
            return update(of: identity)
        }
        return nil
    }

    mutating func noteLive(_ id: CredentialID, at now: WallTime) {
        change(id) { $0.lastLiveAt = max($0.lastLiveAt ?? now, now) }
    }

    private func usedAt(_ id: CredentialID, _ policy: KeepAlivePolicy) -> WallTime {
        policy.usedAt(
            storedAt: storedAt[id] ?? .distantPast,
            lastLiveAt: work(id)?.lastLiveAt
        )
    }

    private func work(_ id: CredentialID) -> CredentialWork? {
        identities.values.lazy.flatMap(\.credentials).first { $0.id == id }
    }

    private mutating func change(_ id: CredentialID, _ body: (inout CredentialWork) -> Void) {
        guard let identity = identity(of: id),
            let index = identities[identity]?.credentials.firstIndex(where: { $0.id == id }),
            var work = identities[identity]?.credentials[index]
        else { return }
        body(&work)
        identities[identity]?.credentials[index] = work
    }
}
