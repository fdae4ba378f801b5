import Engine
import HTTP
import Lifecycle

extension ReplyReading {
    /// Nothing was sent, because the set-up lacks something.
    static var misconfigured: Self { Self(meaning: .failure(.misconfigured)) }

    /// The answer to the exchange of a code; the code is spent, whosever the tokens are.
    func exchanged(subject: (TokenGrant) async -> Secret?) async -> ExchangeAnswer {
        switch meaning {
        case .honoured:
            guard let grant else { return .failure(.unusable) }
            return .exchanged(
                ExchangedTokens(
                    refreshToken: grant.refreshToken,
                    accessToken: grant.accessToken,
                    accessTokenLifetime: grant.lifetime,
                    subject: await subject(grant)
                )
            )
        case .refused: return .refused
        // The provider may or may not have looked at the code.
        case .unclear: return .failure(.rejected)
        case .failure(let failure): return .failure(failure)
        }
    }

    /// Why the provider is not well, when this is about a code or token that cannot exist; `nil`
    /// for the refusal that is documented.
    func problemOfMadeUp(of client: String? = nil) -> EffectFailure? {
        switch meaning {
        case .failure(.misconfigured) where client != nil:
            .refusesAll(
                Refusal(
                    status: refusal?.refusal.status,
                    error: refusal?.refusal.error,
                    client: client
                )
            )
        case .refused: nil
        case .honoured, .unclear: .unusable
        case .failure(.rejected), .failure(.unusable):
            .some(refusal.map { .refusesAll($0.refusal) } ?? .unusable)
        case .failure(let failure): failure
        }
    }

    /// The answer to a check by the refresh grant.
    func checked(live: (TokenGrant?) async -> CheckAnswer) async -> CheckAnswer {
        switch meaning {
        case .honoured: await live(grant)
        case .refused: .dead
        case .unclear: .failure(.rejected)
        case .failure(let failure): .failure(failure)
        }
    }
}

extension FormBody {
    /// Adds the fields of the exchange of a code (RFC 6749 §4.1.3, RFC 7636 §4.5).
    mutating func add(exchangeOf code: OpenCredential) {
        add("grant_type", "authorization_code")
        add("code", code.secret)
        if let redirectURI = code.redirectURI { add("redirect_uri", redirectURI) }
        if let verifier = code.codeVerifier { add("code_verifier", verifier) }
    }

    /// Adds the fields of the refresh grant (RFC 6749 §6).
    mutating func add(refreshWith token: Secret) {
        add("grant_type", "refresh_token")
        add("refresh_token", token)
    }
}

extension RemoteClient {
    /// Reads a key set; `nil` when there is none at the endpoint.
    func keySet(at endpoint: RemoteEndpoint) async -> SigningKeySet? {
        // What comes is about no token.
        let outcome = await AnswerRecorder.probing { await send(RemoteRequest(endpoint)) }
        guard case .reply(let reply) = outcome, reply.status == 200 else { return nil }
        return SigningKeySet(reply.body)
    }
}
