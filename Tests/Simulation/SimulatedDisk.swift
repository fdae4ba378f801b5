import Engine
import Lifecycle

/// The durable state: what a commit wrote, and nothing else, survives a crash.
struct SimulatedDisk {
    struct Row {
        var request: Request
        let user: Int
        var isActive = false
        var mirror: RequestState?
    }

    struct Identity {
        let id: IdentityID
        let user: Int
        let provider: ProviderName
        var credentials: [CredentialWork]
    }

    var requests: [RequestID: Row] = [:]
    var identities: [IdentityID: Identity] = [:]
    var exchanges: [CredentialID: CodeExchange] = [:]
    /// The secret of each credential; the name of a token or code in the world.
    var secrets: [CredentialID: String] = [:]
    /// What each was stored with, before anything rotated.
    var firstSecrets: [CredentialID: String] = [:]
    var storedAt: [CredentialID: WallTime] = [:]
    var renewals: [CredentialID: Renewal] = [:]
    /// When a refresh began that may use the token up.
    var refreshBegunAt: [CredentialID: WallTime] = [:]
    var pauses = StoredPauses()
    var runs = StoredRuns()
    var idempotency: [String: RequestID] = [:]
    var purgeTimes: [WallTime] = []
    var overridesUsed = 0
    /// What a store of several hosts has besides.
    var shared = SharedTables()
    /// Small, so that wakes have several pages.
    static let wakePageMax = 2
    private var lastCredential: Int64 = 0

    mutating func newCredential(secret: String, at now: WallTime) -> CredentialID {
        lastCredential += 1
        let id = CredentialID(rowID: lastCredential)
        secrets[id] = secret
        firstSecrets[id] = secret
        storedAt[id] = now
        return id
    }

    /// Counts a crash of our own against what was being worked on.
    ///
    /// - Returns: The requests that are to run one at a time until they have passed a crash-free
    ///   call.
    mutating func recoverFromCrash(isOwnCrash: Bool) -> [RequestID] {
        for (id, row) in requests where row.isActive {
            requests[id]?.isActive = false
            if isOwnCrash { requests[id]?.request.crashCount += 1 }
        }
        return requests.values.filter {
            !$0.request.phase.isEnded && (1..<Limits.crashesMax).contains($0.request.crashCount)
        }
        .map(\.request.id).sorted()
    }

    /// News may have been committed right before a crash, unseen by the requests that wait for it.
    mutating func makeWaitingDue(at now: WallTime) {
        let reasons: [ParkReason?] = [nil, .needsReauthentication, .sharedIdentity]
        for (id, row) in requests {
            guard let stage = row.request.phase.stage, stage <= .revoking,
                reasons.contains(row.request.phase.parkReason)
            else { continue }
            if row.request.dueAt == nil || row.request.phase.parkReason != nil {
                requests[id]?.request.dueAt = now
            }
        }
    }

    func snapshots(of user: Int) -> [IdentitySnapshot] {
        identities.values.filter { $0.user == user }.sorted {
            $0.id.description < $1.id.description
        }
        .map(snapshot)
    }

    func snapshot(_ identity: Identity) -> IdentitySnapshot {
        var snapshot = IdentitySnapshot(
            identity: identity.id,
            provider: identity.provider,
            clientID: "client",
            isShared: false,
            credentials: identity.credentials.map { work in
                var work = work
                if let begunAt = refreshBegunAt[work.id] {
                    let isInDoubt = begunAt > work.lastLiveAt ?? .distantPast
                    work.rotation = isInDoubt ? .inDoubt : .settled
                }
                return work
            }
        )
        snapshot.subjectHash = Self.subjectHash(of: identity.user)
        return snapshot
    }

    /// A user has one account at each provider.
    static func subjectHash(of user: Int) -> [UInt8] { [UInt8(truncatingIfNeeded: user)] }

    func identity(of credential: CredentialID) -> IdentityID? {
        identities.values.first { $0.credentials.contains { $0.id == credential } }?.id
    }

    func update(of id: IdentityID) -> IdentityUpdate? {
        guard let identity = identities[id] else { return nil }
        let open = requests.values.filter { row in
            row.user == identity.user && (row.request.phase.stage.map { $0 <= .revoking } ?? false)
        }
        return IdentityUpdate(
            snapshot: snapshot(identity),
            credentials: sealed(identity.credentials.map(\.id)),
            openRequests: open.map(\.request.id).sorted()
        )
    }

    func loaded(_ id: RequestID) -> LoadedRequest? {
        guard let row = requests[id], !row.request.phase.isEnded,
            let user = UserID("user-\(row.user)")
        else { return nil }
        var request = row.request
        // In flight is never stored.
        for index in request.revocations.indices {
            request.revocations[index].isBusy = false
            for credential in request.revocations[index].credentials.indices {
                request.revocations[index].credentials[credential].lastCheck = nil
            }
        }
        request.lookup?.isBusy = false
        for index in request.purges.indices {
            request.purges[index].isBusy = false
            request.purges[index].workedPlaces = []
        }
        request.approval?.planning = .idle
        request.approval?.expire()
        return LoadedRequest(
            request: request,
            user: user,
            userHash: [UInt8(truncatingIfNeeded: row.user)],
            credentials: sealed(snapshots(of: row.user).flatMap { $0.credentials.map(\.id) }),
            unseen: snapshots(of: row.user)
        )
    }

    func sealed(_ ids: [CredentialID]) -> [CredentialID: SealedCredential] {
        var result: [CredentialID: SealedCredential] = [:]
        for id in ids where secrets[id] != nil { result[id] = sealed(id) }
        return result
    }

    func sealed(_ id: CredentialID, secret: String? = nil) -> SealedCredential {
        SealedCredential(
            id: id,
            kind: .refreshToken,
            provider: identity(of: id).flatMap { identities[$0]?.provider } ?? apple,
            clientID: "client",
            userHash: identity(of: id).flatMap { identities[$0] }.map {
                Simulator.hash(of: $0.user)
            } ?? [],
            rowNonce: [],
            sealedSecret: Array((secret ?? secrets[id] ?? "").utf8),
            sealedCodeVerifier: nil,
            redirectURI: nil,
            fingerprint: [],
            userKey: WrappedKey(bytes: [], keyID: "")
        )
    }

    func due(
        at now: WallTime,
        limit: Int,
        excluding: Set<RequestID>,
        laneLimits: [ProviderName: Int],
        in partitions: PartitionSet = .all
    ) -> DueRequests {
        let waiting = requests.values.filter { row in
            row.request.dueAt != nil && !excluding.contains(row.request.id)
                && partitions.contains(Partition(userHash: Simulator.hash(of: row.user)))
        }
        let due = waiting.filter { row in
            (row.request.dueAt ?? now) <= now
        }
        .sorted {
            ($0.request.dueAt ?? now, $0.request.id) < ($1.request.dueAt ?? now, $1.request.id)
        }
        var counts: [ProviderName: Int] = [:]
        let taken = due.filter { row in
            guard let lane = row.request.lane, let most = laneLimits[lane] else { return true }
            counts[lane, default: 0] += 1
            return counts[lane, default: 0] <= most
        }
        let next = waiting.compactMap(\.request.dueAt).filter { $0 > now }.min()
        return DueRequests(
            requests: taken.prefix(limit).compactMap { loaded($0.request.id) },
            nextDueAt: next
        )
    }

    /// How far the clock was ahead when the state last took over a jump, and its time then.
    var clockError = Duration.zero
    var clockEpoch = Simulator.start

    mutating func reclock(_ step: ClockStep, at time: WallTime) {
        clockError += step.by
        clockEpoch = step.epochAfter
        for id in requests.keys { requests[id]?.request.reclock(step, at: time) }
        for id in exchanges.keys { exchanges[id]?.reclock(step, at: time) }
        for id in identities.keys {
            for index in identities[id]?.credentials.indices ?? 0..<0 {
                let credential = identities[id]?.credentials[index]
                identities[id]?.credentials[index].lastLiveAt = credential?.lastLiveAt.map {
                    min(step.by > .zero ? step.corrected($0) : $0, time)
                }
                identities[id]?.credentials[index].lastRefreshAt = credential?.lastRefreshAt.map {
                    min(step.by > .zero ? step.corrected($0) : $0, time)
                }
            }
        }
    }

    /// A deletion may not end revoking beside a credential that it does not know.
    func refusal(of changes: [StateChange]) -> CommitRefusal? {
        var unseenBy: [RequestID] = []
        for case .some(let now) in changes.map(\.endsRevoking) {
            let known = Set(now.revocations.flatMap { $0.credentials.map(\.id) })
            let stored = identities.values.filter { $0.user == requests[now.id]?.user }
                .flatMap(\.credentials)
            if !stored.allSatisfy({ known.contains($0.id) }) { unseenBy.append(now.id) }
        }
        return unseenBy.isEmpty ? nil : CommitRefusal(unseenBy: unseenBy)
    }

    mutating func commit(_ changes: [StateChange]) -> [ChangeUpdate?] {
        changes.map { apply($0) }
    }

    mutating func apply(_ change: StateChange) -> ChangeUpdate? {
        switch change {
        case .save(let now, _, _):
            save(now)
            return nil
        case .openRecheck:
            return nil
        case .saveExchange(let exchange, let time):
            exchanges[exchange.credential] = exchange.phase.isFinal ? nil : exchange
            guard exchange.phase.isFinal else { return nil }
            setStep(of: exchange, exchange.phase == .unknown ? .lost : .unusable)
            noteUpdate(of: exchange.identity, at: time)
            return update(of: exchange.identity).map { .identity($0) }
        case .storeTokens(let exchange, let tokens, _, let time):
            exchanges[exchange.credential] = nil
            setStep(of: exchange, .unusable)
            for token in tokens {
                let secret = String(decoding: token.sealedSecret, as: UTF8.self)
                let id = newCredential(secret: secret, at: time)
                identities[exchange.identity]?.credentials.append(
                    CredentialWork(id: id, kind: token.kind, step: .stored, lastLiveAt: time)
                )
            }
            noteUpdate(of: exchange.identity, at: time)
            return update(of: exchange.identity).map { .identity($0) }
        case .tell(let identity, _, let time):
            noteUpdate(of: identity, at: time)
            return update(of: identity).map { .identity($0) }
        case .rotate(let credential, let token, let time):
            guard secrets[credential] != nil else { return nil }
            secrets[credential] = String(decoding: token.sealedSecret, as: UTF8.self)
            noteLive(credential, at: time)
        case .tendRenewals(let policies, let time):
            return tend(policies, at: time)
        case .beginRenewal(let id, let policy, let time):
            return .renewalBegun(id, begin(id, policy, at: time))
        case .endRenewal(let ended, let time):
            return .renewalEnded(ended.credential, end(ended, at: time))
        case .pauseProvider(let name, let reason, _, _):
            pauses.providers[name] = reason
        case .resumeProvider(let name, _, _, _):
            pauses.providers[name] = nil
        case .pauseStore(let name, let reason, _, _):
            pauses.stores[name] = reason
        case .resumeStore(let name, _, _, _):
            pauses.stores[name] = nil
        case .placeHold(let hold):
            pauses.holds.append(hold)
        case .liftHold(let hold, _, _):
            pauses.holds.removeAll { $0.name == hold.name }
        case .wake(let reason, let previous, let time):
            return wake(reason, after: previous, at: time)
        case .reclock(let step, let time):
            reclock(step, at: time)
        case .useGuardOverride(let count, _):
            overridesUsed += count
        case .answer(let id, let outcome):
            shared.operations[id]?.answer = outcome
        }
        return nil
    }

    private mutating func wake(
        _ reason: ParkReason,
        after previous: RequestID?,
        at time: WallTime
    ) -> ChangeUpdate? {
        let waiting = requests.filter { id, row in
            row.request.phase.parkReason == reason && (previous.map { id > $0 } ?? true)
        }
        let page = waiting.keys.sorted().prefix(Self.wakePageMax)
        for id in page {
            let dueAt = requests[id]?.request.dueAt ?? time
            requests[id]?.request.dueAt = min(dueAt, time)
        }
        let last = page.count < Self.wakePageMax ? nil : page.last
        pauses.unfinishedWakes[reason] = last
        return last.map { .wakeGoesOn(reason, after: $0) }
    }

    /// Open requests that may still revoke become due and will see the identity as it is.
    mutating func noteUpdate(of identity: IdentityID, at now: WallTime) {
        guard let user = identities[identity]?.user else { return }
        for (id, row) in requests where row.user == user {
            guard let stage = row.request.phase.stage, stage <= .revoking else { continue }
            let dueAt = max(row.request.notBefore, now)
            requests[id]?.request.dueAt = row.request.dueAt.map { min($0, dueAt) } ?? dueAt
        }
    }

    private mutating func save(_ request: Request) {
        guard var row = requests[request.id] else { return }
        if row.request.purgeStartedAt == nil, let time = request.purgeStartedAt {
            purgeTimes.append(time)
        }
        row.request = request
        row.isActive = request.isBusy
        requests[request.id] = row
        noteEnd(of: request, user: row.user)
        for revocation in request.revocations {
            for work in revocation.credentials { learnTimes(work, of: revocation.identity) }
        }
    }

    private mutating func learnTimes(_ work: CredentialWork, of identity: IdentityID) {
        guard let index = identities[identity]?.credentials.firstIndex(where: { $0.id == work.id })
        else {
            return
        }
        identities[identity]?.credentials[index].lastLiveAt = work.lastLiveAt
        identities[identity]?.credentials[index].lastRefreshAt = work.lastRefreshAt
    }

    private mutating func setStep(of exchange: CodeExchange, _ step: CredentialStep) {
        guard
            let index = identities[exchange.identity]?.credentials.firstIndex(where: {
                $0.id == exchange.credential
            })
        else { return }
        identities[exchange.identity]?.credentials[index].step = step
        secrets[exchange.credential] = nil
    }
}
