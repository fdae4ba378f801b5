import Engine
import Lifecycle

/// What applications and operators do.
extension Simulator {
    /// A user signs in: the application stores the authorization code.
    mutating func signIn(user: Int, provider: ProviderName, codeAge: Duration = .zero) {
        guard takesCredentials(user) else { return }
        let name = "code-\(user)-\(provider)-\(world.codes.count)"
        world.codes[name] = SimulatedWorld.Code(
            user: user,
            provider: provider,
            bornAt: now - codeAge
        )
        let credential = disk.newCredential(secret: name, at: clock)
        let identity = identity(of: user, at: provider)
        disk.identities[identity]?.credentials.append(
            CredentialWork(id: credential, kind: .authorizationCode, step: .codePending)
        )
        let exchange = CodeExchange(
            credential: credential,
            identity: identity,
            provider: provider,
            createdAt: clock - codeAge
        )
        disk.exchanges[credential] = exchange
        disk.noteUpdate(of: identity, at: clock)
        let loaded = LoadedExchange(exchange: exchange, credential: disk.sealed(credential))
        var inputs: [EngineInput] = [.codes([loaded])]
        if let update = disk.update(of: identity) { inputs.append(.update(update)) }
        turn(inputs)
        mail(identity)
    }

    /// A refresh token that was stored long ago.
    mutating func storeToken(user: Int, provider: ProviderName, isLive: Bool = true) {
        guard takesCredentials(user) else { return }
        let token = world.issueToken(user: user, provider: provider)
        world.tokens[token]?.isLive = isLive
        let identity = identity(of: user, at: provider)
        let credential = disk.newCredential(secret: token, at: clock)
        disk.identities[identity]?.credentials.append(
            CredentialWork(id: credential, kind: .refreshToken, step: .stored)
        )
        disk.noteUpdate(of: identity, at: clock)
        if let update = disk.update(of: identity) { turn([.update(update)]) }
        mail(identity)
    }

    /// Some users whose revoking is about to end have their app store another token.
    mutating func signIn(during commit: [StateChange]) {
        for case .some(let now) in commit.map(\.endsRevoking) {
            guard faults.lateSignInPerMille > 0, chance(faults.lateSignInPerMille),
                let user = disk.requests[now.id]?.user
            else { continue }
            at(.zero) { $0.storeToken(user: user, provider: apple) }
        }
    }

    /// From purging on a credential is refused; a later life of the account is not played here.
    func takesCredentials(_ user: Int) -> Bool {
        disk.requests.values.allSatisfy { row in
            row.user != user || row.request.kind != .deleteAccount
                || (row.request.phase.stage.map { $0 <= .revoking } ?? false)
        }
    }

    mutating func identity(of user: Int, at provider: ProviderName) -> IdentityID {
        if let known = disk.identities.values.first(where: {
            $0.user == user && $0.provider == provider
        }) {
            return known.id
        }
        let id = IdentityID(TimeOrderedID(at: now, entropy: &random))
        disk.identities[id] = SimulatedDisk.Identity(
            id: id,
            user: user,
            provider: provider,
            credentials: []
        )
        return id
    }

    /// Accepts a request durably and hands it to the engine.
    @discardableResult
    mutating func submit(
        _ kind: RequestKind,
        user: Int,
        key: String? = nil,
        grace: Duration = .zero
    ) -> RequestID {
        let id = take(kind, user: user, key: key, grace: grace)
        if let key {
            if let before = answered[key], before != id {
                world.violations.append("I-8: one key, two requests")
            }
            answered[key] = id
        }
        return id
    }

    private mutating func take(
        _ kind: RequestKind,
        user: Int,
        key: String?,
        grace: Duration
    ) -> RequestID {
        if let key, let known = disk.idempotency[key] { return known }
        let open = disk.requests.values.first { row in
            row.user == user && !row.request.phase.isEnded && row.request.kind == kind
        }
        if let open {
            if let key { disk.idempotency[key] = open.request.id }
            return open.request.id
        }
        for store in configuration.stores where world.rows[store]?[user] == nil {
            world.rows[store, default: [:]][user] = 3
        }
        let read = core.beginAdmission()
        let id = RequestID(TimeOrderedID(at: now, entropy: &random))
        let isStale = bug == .staleTime && now.since(clockSetAt) < .seconds(1)
        let time = isStale ? now + clockErrorBefore : clock
        var request = Request(
            id: id,
            kind: kind,
            createdAt: time,
            acceptedAt: time,
            notBefore: time + grace,
            deadlineAt: time + .seconds(30 * 86_400),
            identities: disk.snapshots(of: user),
            stores: configuration.stores,
            directory: isDirectoryUnknownAtIntake ? nil : configuration.directory
        )
        // Those of every second user came by the spool.
        request.isAnonymous = user.isMultiple(of: 2)
        if clock < clockFloor {
            for index in request.purges.indices { request.purges[index].restoredAt = clockFloor }
        }
        disk.requests[id] = SimulatedDisk.Row(request: request, user: user)
        if let key { disk.idempotency[key] = id }
        acknowledged.insert(id)
        acceptedAt[id] = now
        taken[id] = disk.requests[id]
        admit(id, by: read)
        return id
    }

    /// Tells the engine, which hears of it some time after the commit.
    private mutating func admit(_ id: RequestID, by read: ReadNumber) {
        guard let loaded = disk.loaded(id) else { return }
        let input = EngineInput.admitted([loaded], by: bug == .staleAdmission ? .latest : read)
        if isShared { mail() }
        guard faults.admissionLatencyMaxMs > 0 else { return turn([input]) }
        schedule(.input(input), after: latency(faults.admissionLatencyMaxMs))
    }

    @discardableResult
    mutating func operate(_ id: RequestID, _ event: RequestEvent) -> UInt64 {
        let number = random.next() | 1
        if event == .abandon { givenUp.insert(id) }
        if bug == .forgottenHold, event == .hold {
            outcomes[number] = .done
            held.insert(id)
            return number
        }
        if isShared {
            submitRow(id, event, number)
        } else {
            turn([.operate(id, event, Ticket(number: number))])
        }
        return number
    }

    func state(_ id: RequestID) -> RequestState? { disk.requests[id]?.request.phase.state }

    func request(_ id: RequestID) -> Request? { disk.requests[id]?.request }
}
