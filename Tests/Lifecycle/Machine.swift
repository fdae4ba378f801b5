import Lifecycle

/// One request with everything that its machine reads, so that a test is a list of events.
struct Machine {
    var request: Request
    var environment: Environment
    var now = Sample.start
    /// What a vendor answers to the next calls.
    var lastAnswer: VendorAnswer?
    private var random = SeededGenerator(seed: 1)

    init(
        _ kind: RequestKind = .deleteAccount,
        identities: [IdentitySnapshot] = [Sample.snapshot()],
        stores: [StoreName] = [Sample.database],
        grace: Duration = .zero,
        in environment: Environment = Sample.environment()
    ) {
        request = Request(
            id: RequestID(TimeOrderedID(high: 7, low: 7)),
            kind: kind,
            createdAt: Sample.start,
            acceptedAt: Sample.start,
            notBefore: Sample.start + grace,
            deadlineAt: Sample.start + Sample.day * 30,
            identities: identities,
            stores: stores
        )
        self.environment = environment
    }

    @discardableResult
    mutating func send(_ event: RequestEvent) throws(OperationRefusal) -> [RequestEffect] {
        var context = StepContext(now: now, random: random, lastAnswer: lastAnswer)
        defer { random = context.random }
        return try request.handle(event, &context, in: environment)
    }

    /// Lets time pass, without an event.
    mutating func pass(_ duration: Duration) { now = now + duration }

    /// Lets time pass until the machine wants to be looked at, and looks.
    @discardableResult
    mutating func sendDue() throws -> [RequestEffect] {
        if let dueAt = request.dueAt { now = max(now, dueAt) }
        return try send(.due)
    }

    @discardableResult
    mutating func answer(
        check answer: CheckAnswer,
        _ id: CredentialID = Sample.token
    ) throws -> [RequestEffect] {
        try send(.checked(Sample.identity, id, answer))
    }

    @discardableResult
    mutating func answer(
        revoke answer: RevokeAnswer,
        _ id: CredentialID = Sample.token
    ) throws -> [RequestEffect] {
        try send(.revoked(Sample.identity, id, answer))
    }

    @discardableResult
    mutating func answer(
        confirm answer: CheckAnswer,
        _ id: CredentialID = Sample.token
    ) throws -> [RequestEffect] {
        try send(.confirmed(Sample.identity, id, answer))
    }

    @discardableResult
    mutating func answer(
        purge answer: PurgeAnswer,
        _ store: StoreName = Sample.database
    ) throws -> [RequestEffect] {
        try send(.purged(store, answer))
    }

    @discardableResult
    mutating func answer(
        verify answer: VerifyAnswer,
        _ store: StoreName = Sample.database
    ) throws -> [RequestEffect] {
        try send(.verified(store, answer))
    }

    /// Adds what the vault learned about the sample identity.
    @discardableResult
    mutating func learn(_ credentials: [CredentialWork]) throws -> [RequestEffect] {
        try send(.identityChanged([Sample.snapshot(credentials)]))
    }

    /// Asks for an approval, shows a plan and has it approved by another operator.
    mutating func approve(_ plan: PurgePlan) throws {
        environment.isApprovalRequired = true
        try send(.due)
        try send(.planned(.made(plan)))
        try send(.approve(plan.hash, by: Sample.approver))
    }

    /// ``revokeEverything()`` after an approval.
    mutating func revokeApproved() throws {
        try answer(check: .live)
        try answer(revoke: .success)
    }

    var verdict: Verdict? { request.revocations.first?.verdict }

    /// Revokes with one check, so that the purge begins: check, revoke, `accepted`.
    mutating func revokeEverything() throws {
        try send(.due)
        try answer(check: .live)
        try answer(revoke: .success)
    }
}

extension RequestEffect {
    static let check = RequestEffect.call(TokenCall(.check, Sample.identity, Sample.token))
    static let revoke = RequestEffect.call(TokenCall(.revoke, Sample.identity, Sample.token))
    static let confirm = RequestEffect.call(TokenCall(.confirm, Sample.identity, Sample.token))

    static func check(_ identity: IdentityID, _ credential: CredentialID) -> Self {
        .call(TokenCall(.check, identity, credential))
    }

    static func revoke(_ identity: IdentityID, _ credential: CredentialID) -> Self {
        .call(TokenCall(.revoke, identity, credential))
    }

    static func confirm(_ identity: IdentityID, _ credential: CredentialID) -> Self {
        .call(TokenCall(.confirm, identity, credential))
    }
}
