import Engine
import HTTP
import Lifecycle
import Synchronization

/// Tells the refusal of one token from an endpoint that refuses all of them.
///
/// A wrong URL must never make users unrevocable, and one user's token must never pause a provider.
/// So whoever is refused asks the same thing about a token that cannot exist.
final class RefusalJudge: Sendable {
    /// The token that cannot exist.
    static let madeUp = Secret("expunged-self-check")
    /// How long a proper answer shows that the endpoint is right.
    private static let lifetime = Duration.seconds(30)
    /// How long an honored token shows that the endpoint is right, where it answers a token that
    /// cannot exist as it does the user's.
    private static let honorLifetime = Duration.seconds(86_400)

    private struct Honor {
        let at: WallTime
        /// An answer that may be a missing endpoint's counted as a token's since.
        var isSpent = false
    }

    private let now: @Sendable () -> WallTime
    private let honor = Mutex<Honor?>(nil)
    private let answeredAt = Mutex<WallTime?>(nil)

    init(now: @escaping @Sendable () -> WallTime) { self.now = now }

    /// Decides whom a refusal concerns.
    ///
    /// - Parameters:
    ///   - refusal: The answer about the user's token.
    ///   - failure: What that answer is, when nothing else can be found out.
    ///   - control: Asks the same about ``madeUp``.
    /// - Returns: `refused` for the token's own refusal, `wrongEndpoint` for everybody's.
    func judge(
        _ refusal: ReplyRefusal,
        or failure: EffectFailure,
        control: () async -> ReplyReading
    ) async -> EffectFailure {
        let isToken = !refusal.isPage
        if isToken, isRecent(answeredAt.withLock { $0 }, Self.lifetime) {
            return .refused(refusal.refusal)
        }
        let reading = await control()
        switch reading.meaning {
        case .honoured, .refused:
            answeredAt.withLock { $0 = now() }
            return isToken ? .refused(refusal.refusal) : failure
        case .unclear, .failure(.rejected), .failure(.unusable), .failure(.misconfigured):
            if let answer = reading.refusal, answer.isForeign {
                let isCode = answer.refusal.error != nil
                return isCode && answer.refusal == refusal.refusal
                    ? judge(missing: answer.refusal) : .wrongEndpoint(answer.refusal)
            }
            let isRight = isRecent(honor.withLock { $0?.at }, Self.honorLifetime)
            return isRight && isToken ? .refused(refusal.refusal) : failure
        case .failure(let outage):
            return outage
        }
    }

    /// The answer to a revocation whose table knows nothing but success; `control` asks the same
    /// about ``madeUp``.
    func answer(
        _ reading: ReplyReading,
        control: () async -> ReplyReading
    ) async -> RevokeAnswer {
        switch reading.meaning {
        case .honoured:
            noteHonored()
            return .success
        case .refused, .unclear: return .failure(.unusable)
        case .failure(.rejected):
            guard let refusal = reading.refusal else { return .failure(.rejected) }
            return .failure(await judge(refusal, or: .rejected, control: control))
        case .failure(let failure): return .failure(failure)
        }
    }

    /// Decides about a 404, 405 or 410 with an error code of the provider's own.
    ///
    /// Some endpoints answer unknown tokens so, and so does a server whose endpoint is gone. Each
    /// token that is honored lets one refusal count: an endpoint that is gone honors none, so it
    /// makes no user unrevocable.
    private func judge(missing answer: Refusal) -> EffectFailure {
        honor.withLock { honor in
            guard let last = honor, isRecent(last.at, Self.honorLifetime) else {
                return .wrongEndpoint(answer)
            }
            guard last.isSpent else {
                honor?.isSpent = true
                return .refused(answer)
            }
            // A breaker would hold up users whose tokens are honored.
            return isRecent(last.at, Limits.breakerPauseMax) ? .rejected : .wrongEndpoint(answer)
        }
    }

    /// Notes that the endpoint honored a token of a user.
    func noteHonored() { honor.withLock { $0 = Honor(at: now()) } }

    private func isRecent(_ time: WallTime?, _ lifetime: Duration) -> Bool {
        guard let time else { return false }
        let age = now().since(time)
        return age >= .zero && age < lifetime
    }
}
