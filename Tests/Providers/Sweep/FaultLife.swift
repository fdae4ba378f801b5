import Engine
import Lifecycle
import Sandbox
import Synchronization

@testable import Providers

/// One identity from the sign-in to its verdict: the real provider's answers move the real state
/// machine, in virtual time.
struct FaultLife {
    /// How a life begins; by the seed.
    enum Beginning: Int, CaseIterable {
        case code, tokens, secondSignIn, withdrawn
    }

    /// Holds what is stored of the credentials' secrets; a refresh replaces it.
    final class Registry: Sendable {
        private let secrets = Mutex<[CredentialID: Secret]>([:])
        private let rotated = Mutex<Set<CredentialID>>([])

        subscript(id: CredentialID) -> Secret? {
            get { secrets.withLock { $0[id] } }
            set { secrets.withLock { $0[id] = newValue } }
        }

        func keeper(of id: CredentialID) -> TokenKeeper {
            TokenKeeper { [self] secret in
                self[id] = secret
                _ = rotated.withLock { $0.insert(id) }
                return true
            }
        }

        func takeRotated() -> Set<CredentialID> {
            rotated.withLock { rotated in
                defer { rotated = [] }
                return rotated
            }
        }
    }

    /// A life that has not ended by then goes in a circle.
    static let stepsMax = 400
    /// One call in fifty is the last of its process.
    static let crashPerMille = 20

    let provider: any IdentityProvider
    let clientID: String
    let clock: ManualTime
    var random: SeededGenerator
    let registry = Registry()
    var work: [CredentialWork] = []
    var verifiers: [CredentialID: Secret] = [:]
    var subject: Secret?
    var violations: [String] = []
    private var request: Request?
    private let identity = IdentityID(TimeOrderedID(high: 1, low: 1))

    init(_ provider: any IdentityProvider, clientID: String, clock: ManualTime, seed: UInt64) {
        self.provider = provider
        self.clientID = clientID
        self.clock = clock
        random = SeededGenerator(seed: seed)
    }

    mutating func store(_ credential: SweptCredential) {
        let id = CredentialID(rowID: Int64(work.count + 1))
        registry[id] = credential.secret
        verifiers[id] = credential.verifier
        let isCode = credential.kind == .authorizationCode
        work.append(
            CredentialWork(
                id: id,
                kind: credential.kind,
                step: isCode ? .codePending : credential.kind == .idToken ? .unusable : .stored
            )
        )
    }

    /// The life to its end.
    ///
    /// - Returns: The verdict; `nil` for a life that did not end.
    mutating func run() async throws -> Verdict? {
        for index in work.indices where work[index].step == .codePending {
            await exchange(at: index)
        }
        request = Request(
            id: RequestID(TimeOrderedID(high: 7, low: 7)),
            kind: .deleteAccount,
            createdAt: clock.now,
            acceptedAt: clock.now,
            notBefore: clock.now,
            deadlineAt: clock.now + .seconds(30 * 86_400),
            identities: [snapshot],
            stores: []
        )
        var effects = try send(.due)
        for _ in 0..<Self.stepsMax {
            if case .call(let call)? = effects.first(where: \.isProviderCall) {
                effects = try await perform(call)
            } else if let dueAt = request?.dueAt {
                clock.advance(by: max(.zero, dueAt.since(clock.now)))
                effects = try send(.due)
            } else {
                break
            }
            if effects.contains(where: { if case .pauseProvider = $0 { true } else { false } }) {
                violations.append("a fault paused the provider")
                return nil
            }
        }
        let revocation = request?.revocations.first
        if revocation?.verdict == nil {
            violations.append("no end: \(revocation?.lastFailure ?? "no failure")")
        }
        return revocation?.verdict
    }

    /// Whether a sign-in's answer was lost: its tokens are in nobody's hands and cannot be revoked.
    private(set) var hasUnheardTokens = false

    private var snapshot: IdentitySnapshot {
        IdentitySnapshot(
            identity: identity,
            provider: SweptProvider.name,
            clientID: clientID,
            isShared: false,
            credentials: work,
            hadCredentials: true
        )
    }

    private mutating func send(_ event: RequestEvent) throws -> [RequestEffect] {
        let policy = ProviderPolicy(
            traits: provider.traits,
            onUnrevocable: .proceed,
            revocationDeadline: .seconds(7 * 86_400)
        )
        var context = StepContext(now: clock.now, random: random)
        defer { random = context.random }
        let environment = Environment(providers: [SweptProvider.name: policy])
        return try request?.handle(event, &context, in: environment) ?? []
    }

    private mutating func crashes() -> Bool {
        Int.random(in: 0..<1000, using: &random) < Self.crashPerMille
    }
}

// MARK: - Calls

extension FaultLife {
    private mutating func perform(_ call: TokenCall) async throws -> [RequestEffect] {
        let event: RequestEvent
        switch call.work {
        case .check, .confirm:
            event = call.checked(await provider.check(open(call.credential)))
        case .revoke:
            event = call.revoked(await provider.revoke(open(call.credential)))
        }
        if !registry.takeRotated().isEmpty { _ = try send(.identityChanged([snapshot])) }
        guard crashes() else { return try send(event) }
        // Nobody heard the answer; what is not stored of the state is gone.
        for index in request?.revocations.indices ?? 0..<0 {
            request?.revocations[index].isBusy = false
            for credential in request?.revocations[index].credentials.indices ?? 0..<0 {
                request?.revocations[index].credentials[credential].lastCheck = nil
            }
        }
        return try send(.due)
    }

    private func open(_ id: CredentialID) -> OpenCredential {
        let kind = request?.revocations.first?.credentials.first { $0.id == id }?.kind
        var credential = OpenCredential(
            kind: kind ?? .refreshToken,
            clientID: clientID,
            secret: registry[id] ?? Secret("")
        )
        credential.subject = subject
        credential.keeper = registry.keeper(of: id)
        return credential
    }

    /// The five-minute lane.
    private mutating func exchange(at index: Int) async {
        let id = work[index].id
        var exchange = CodeExchange(
            credential: id,
            identity: identity,
            provider: SweptProvider.name,
            createdAt: clock.now
        )
        let code = OpenCredential(
            kind: .authorizationCode,
            clientID: clientID,
            secret: registry[id] ?? Secret(""),
            redirectURI: SweptSandbox.redirectURI,
            codeVerifier: verifiers[id]
        )
        while !exchange.phase.isFinal {
            let began = exchange.handle(.begin, now: clock.now, random: &random)
            guard began.contains(.exchange) else { break }
            let answer = await provider.exchange(code)
            let event = crashes() ? .restarted : self.event(of: answer)
            for effect in exchange.handle(event, now: clock.now, random: &random) {
                switch effect {
                case .retry: clock.advance(by: exchange.retryAt?.since(clock.now) ?? .zero)
                case .pauseProvider:
                    violations.append("a fault paused the provider at an exchange")
                    return
                case .exchange, .settled: break
                }
            }
            if event == .exchanged, case .exchanged(let tokens) = answer { store(tokens) }
        }
        if exchange.phase == .unknown { hasUnheardTokens = true }
        work[index].step = .unusable
    }

    private func event(of answer: ExchangeAnswer) -> CodeExchange.Event {
        switch answer {
        case .exchanged: .exchanged
        case .refused: .refused
        case .failure(let failure): .failure(failure)
        }
    }

    private mutating func store(_ tokens: ExchangedTokens) {
        subject = tokens.subject ?? subject
        let pairs =
            [(CredentialKind.refreshToken, tokens.refreshToken)]
            + [(.accessToken, tokens.accessToken)]
        for (kind, secret) in pairs {
            guard let secret else { continue }
            store(SweptCredential(kind: kind, secret: secret))
            work[work.count - 1].lastLiveAt = clock.now
        }
    }
}

extension RequestEffect {
    fileprivate var isProviderCall: Bool {
        if case .call = self { true } else { false }
    }
}
