import Engine
import HTTP
import Lifecycle
import Synchronization

/// Tells the refusal of one token from the refusal of all of them.
///
/// An outage or a wrong URL must never make users unrevocable, and one user's token must never
/// stand for all. So whoever is refused asks the same thing about a token that cannot exist.
final class RefusalJudge: Sendable {
    /// The token that cannot exist.
    static let madeUp = Secret("expunged-self-check")
    /// How long a proper answer shows that the provider is well.
    private static let lifetime = Duration.seconds(30)
    /// How long an honored token lets another one be refused by itself, if
    /// ``refusesUnknownAlike``; an outage may have begun since.
    private static let honorLifetime = Duration.seconds(300)
    /// How long it keeps everybody else from being held up.
    private static let doubt = Duration.seconds(60)

    private struct Honor {
        let at: WallTime
        /// A refusal that may be everybody's counted as a token's since.
        var isSpent = false
    }

    /// The vendor refuses each unknown token so, with an error code that it does not document.
    private let refusesUnknownAlike: Bool
    private let now: @Sendable () -> WallTime
    private let honor = Mutex<Honor?>(nil)
    private let answeredAt = Mutex<WallTime?>(nil)

    init(refusesUnknownAlike: Bool = false, now: @escaping @Sendable () -> WallTime) {
        (self.refusesUnknownAlike, self.now) = (refusesUnknownAlike, now)
    }

    /// Decides whom a refusal of the user's token concerns; it is `failure` when nothing else can
    /// be found out, and `control` asks the same about ``madeUp``.
    ///
    /// - Returns: `refused` for the token's own refusal, `refusesAll` for everybody's.
    func judge(
        _ refusal: ReplyRefusal,
        or failure: EffectFailure,
        control: () async -> ReplyReading
    ) async -> EffectFailure {
        let isToken = !refusal.isPage
        if isToken, isRecent(answeredAt.withLock { $0 }, Self.lifetime) {
            return .refused(refusal.refusal)
        }
        let reading = await AnswerRecorder.probing(control)
        switch reading.meaning {
        case .honoured, .refused:
            answeredAt.withLock { $0 = now() }
            return isToken ? .refused(refusal.refusal) : failure
        case .unclear, .failure(.rejected), .failure(.unusable), .failure(.misconfigured):
            guard let answer = reading.refusal else { return failure }
            let isSame = answer.refusal == refusal.refusal
            guard isSame || answer.isForeign || answer.isMute else {
                return isToken && reading.meaning != .failure(.misconfigured)
                    ? .refused(refusal.refusal) : failure
            }
            return judge(all: answer)
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

    /// The answer about a code or token, told from what everybody gets; `probe` asks about a code
    /// that cannot exist.
    func comparing(
        _ reading: ReplyReading,
        with probe: () async -> ReplyReading
    ) async -> ReplyReading {
        guard let refusal = reading.refusal, refusal.isForeign else { return reading }
        let failure = await judge(refusal, or: .rejected, control: probe)
        // That the probe was not sent or not taken says nothing about the code.
        guard case .refusesAll = failure else { return reading }
        return ReplyReading(meaning: .failure(failure))
    }

    /// Decides where a token that cannot exist is refused, too.
    ///
    /// Nothing is known of any token then, unless the vendor is one that ``refusesUnknownAlike``:
    /// there, each token that is honored lets one refusal count.
    private func judge(all answer: ReplyRefusal) -> EffectFailure {
        honor.withLock { honor in
            guard !answer.isMute || !answer.isForeign, let last = honor,
                isRecent(last.at, Self.honorLifetime)
            else { return .refusesAll(answer.refusal) }
            if refusesUnknownAlike, !answer.isMute, !last.isSpent {
                honor?.isSpent = true
                return .refused(answer.refusal)
            }
            return isRecent(last.at, Self.doubt) ? .rejected : .refusesAll(answer.refusal)
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
