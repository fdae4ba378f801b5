/// The exchange of one authorization code: the five-minute lane.
///
/// ```
/// pending ──begin──▶ exchanging ──exchanged──▶ exchanged
///    ▲                   │ ├──refused──▶ refused
///    ├─provably not acted┤ └──anything else, or a crash──▶ unknown
///    └──wrong endpoint───┘
/// pending ──too old──▶ expired
/// ```
///
/// The exchange is not idempotent (RFC 6749 §4.1.2 allows the server to revoke on reuse): the
/// intent is durable before the call, and a code whose outcome is unknown is never sent again. One
/// that a wrong endpoint answered is sent again; only tokens show then that it was not spent.
package struct CodeExchange: Hashable, Sendable, Retryable {
    /// Stored by `rawValue`.
    package enum Phase: String, Sendable, CaseIterable {
        case pending, exchanging, exchanged, refused, unknown, expired

        /// Whether the code is spent or worthless, so that its secret is destroyed.
        package var isFinal: Bool {
            switch self {
            case .pending, .exchanging: false
            case .exchanged, .refused, .unknown, .expired: true
            }
        }
    }

    /// What happened to it.
    package enum Event: Hashable, Sendable {
        case begin
        case exchanged
        case refused
        case failure(EffectFailure)
        /// The process that wrote the intent is gone.
        case restarted
    }

    /// What the engine must do after the new state is durable.
    package enum Effect: Hashable, Sendable {
        case exchange
        /// At ``CodeExchange/retryAt``.
        case retry
        case pauseProvider
        case settled
    }

    package let credential: CredentialID
    package let identity: IdentityID
    package let provider: ProviderName
    /// When the application got the code, as it says, else when we got it.
    package internal(set) var createdAt: WallTime
    package private(set) var phase: Phase
    /// A wrong endpoint answered: a gateway may have put its page in place of the tokens.
    package private(set) var isInDoubt: Bool
    /// Its time is not stored: a code waits for seconds at most.
    package var retry: Retry
    /// The last answer that brought no tokens.
    ///
    /// The vendor's words are not kept: a code may fail while nobody waits for it, and nothing
    /// would end them.
    package var answer: Refusal?

    package init(
        credential: CredentialID,
        identity: IdentityID,
        provider: ProviderName,
        createdAt: WallTime,
        phase: Phase = .pending,
        isInDoubt: Bool = false,
        failures: Int = 0,
        answer: Refusal? = nil
    ) {
        (self.answer, self.credential, self.identity) = (answer, credential, identity)
        (self.provider, self.createdAt, self.phase) = (provider, createdAt, phase)
        self.isInDoubt = isInDoubt
        retry = Retry(failures: failures)
    }

    /// What to do once the new state is durable; nothing for an event that does not fit.
    package mutating func handle(
        _ event: Event,
        now: WallTime,
        random: inout SeededGenerator
    ) -> [Effect] {
        switch (phase, event) {
        case (.pending, .begin):
            guard now.since(createdAt) <= Limits.codeAgeMax else {
                return settle(isInDoubt ? .unknown : .expired)
            }
            phase = .exchanging
            retryAt = nil
            return [.exchange]
        case (.exchanging, .exchanged):
            return settle(.exchanged)
        case (.exchanging, .refused):
            return settle(isInDoubt ? .unknown : .refused)
        case (.exchanging, .restarted):
            return settle(.unknown)
        case (.exchanging, .failure(let failure)):
            return handle(failure, at: now, random: &random)
        default:
            return []
        }
    }

    private mutating func handle(
        _ failure: EffectFailure,
        at now: WallTime,
        random: inout SeededGenerator
    ) -> [Effect] {
        switch failure {
        case .unreachable, .notConfigured:
            return wait(nil, at: now, random: &random)
        case .refusesAll(let answer):
            // Who refuses a client (RFC 6749 §5.2) has not looked at the code.
            if answer.client == nil { isInDoubt = true }
            return wait(nil, at: now, random: &random)
        case .throttled(let retryAfter):
            return wait(retryAfter, at: now, random: &random)
        case .vaultSealed:
            // Looked at again until the code is too old: a restart may bring the key in time.
            return wait(Limits.codeBackoffMax, at: now, random: &random)
        case .misconfigured:
            phase = .pending
            return [.pauseProvider]
        case .lost, .unusable, .rejected, .refused, .sealBroken, .keys, .blocked:
            return settle(.unknown)
        }
    }

    private mutating func wait(
        _ hint: Duration?,
        at now: WallTime,
        random: inout SeededGenerator
    ) -> [Effect] {
        phase = .pending
        failures += 1
        let delay = RetryPolicy.exchange.delay(failures: failures, random: &random)
        retryAt = now + max(delay, min(hint ?? .zero, Limits.codeBackoffMax))
        return [.retry]
    }

    private mutating func settle(_ outcome: Phase) -> [Effect] {
        phase = outcome
        return [.settled]
    }
}
