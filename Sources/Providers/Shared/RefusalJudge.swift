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

    private let now: @Sendable () -> WallTime
    private let honoredAt = Mutex<WallTime?>(nil)
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
                return .wrongEndpoint(answer.refusal)
            }
            let isRight = isRecent(honoredAt.withLock { $0 }, Self.honorLifetime)
            return isRight && isToken ? .refused(refusal.refusal) : failure
        case .failure(let outage):
            return outage
        }
    }

    /// Notes that the endpoint honored a token of a user.
    func noteHonored() { honoredAt.withLock { $0 = now() } }

    private func isRecent(_ time: WallTime?, _ lifetime: Duration) -> Bool {
        guard let time else { return false }
        let age = now().since(time)
        return age >= .zero && age < lifetime
    }
}
