package import Lifecycle

/// A credential opened for one call.
///
/// Never stored, never logged.
package struct OpenCredential: Sendable {
    package let kind: CredentialKind
    /// The client id that the application stored it under, and the only one it can be used with.
    package private(set) var clientID: String
    package let secret: Secret
    /// Only for an authorization code: what the authorize request used, if anything.
    package let redirectURI: String?
    package let codeVerifier: Secret?
    /// The provider's own name for the user, where it is known; needed where the provider revokes
    /// for a user and not for a token (Facebook, Microsoft).
    package var subject: Secret?
    package var keeper: TokenKeeper?
    /// The provider gave it out to the client, for a code: it is no other client's.
    package var isFromCode = false

    package init(
        kind: CredentialKind,
        clientID: String,
        secret: Secret,
        redirectURI: String? = nil,
        codeVerifier: Secret? = nil
    ) {
        (self.kind, self.clientID, self.secret) = (kind, clientID, secret)
        (self.redirectURI, self.codeVerifier) = (redirectURI, codeVerifier)
    }

    /// The same credential, as if it had been issued to another client of the provider.
    package func issued(to clientID: String) -> OpenCredential {
        var other = self
        (other.clientID, other.isFromCode) = (clientID, false)
        return other
    }
}

/// Makes a rotated refresh token durable in the place of the one that it replaces.
///
/// A provider that rotates has forgotten the old token by the time it answers. So an adapter calls
/// this before it uses or reports anything of a refresh, and makes no rotating refresh without it.
package struct TokenKeeper: Sendable {
    private let body: @Sendable (Secret) async -> Bool

    package init(_ body: @escaping @Sendable (Secret) async -> Bool) { self.body = body }

    /// Whether it is durable; if not, what the refresh brought may only be revoked, at once.
    package func keep(_ refreshToken: Secret) async -> Bool { await body(refreshToken) }
}

/// What a successful code exchange or a refresh brought.
package struct ExchangedTokens: Sendable {
    package let refreshToken: Secret?
    package let accessToken: Secret?
    package let accessTokenLifetime: Duration?
    /// The `sub` of the id token that came along, read over the same TLS connection
    /// (OpenID Connect Core §3.1.3.7, point 6, allows that instead of the signature).
    package let subject: Secret?

    package init(
        refreshToken: Secret?,
        accessToken: Secret?,
        accessTokenLifetime: Duration?,
        subject: Secret?
    ) {
        (self.refreshToken, self.accessToken) = (refreshToken, accessToken)
        (self.accessTokenLifetime, self.subject) = (accessTokenLifetime, subject)
    }
}

/// What exchanging an authorization code brought.
package enum ExchangeAnswer: EffectAnswer {
    case exchanged(ExchangedTokens)
    /// For good (`invalid_grant`: expired, used, or another client's).
    case refused
    case failure(EffectFailure)

    package var failure: EffectFailure? {
        if case .failure(let known) = self { known } else { nil }
    }
}

/// A fresh sign-in that a user made to prove who they are.
package struct SignIn: Sendable {
    package let clientID: String
    package let idToken: Secret
    /// The nonce as the application made it, before any hashing.
    package let rawNonce: Secret

    package init(clientID: String, idToken: Secret, rawNonce: Secret) {
        (self.clientID, self.idToken, self.rawNonce) = (clientID, idToken, rawNonce)
    }
}

/// What a verified id token says.
package struct VerifiedSignIn: Sendable {
    package let subject: Secret
    package let issuedAt: WallTime
    package let expiresAt: WallTime
    /// When the user really signed in (`auth_time`, OpenID Connect Core §2), else `issuedAt`: a
    /// token of this minute may come of a session of last week.
    package let authenticatedAt: WallTime
    /// Identifies this token for replay detection: SHA-256 of the compact form.
    package let fingerprint: [UInt8]

    package init(
        subject: Secret,
        issuedAt: WallTime,
        expiresAt: WallTime,
        authenticatedAt: WallTime,
        fingerprint: [UInt8]
    ) {
        (self.subject, self.authenticatedAt, self.issuedAt) = (subject, authenticatedAt, issuedAt)
        (self.expiresAt, self.fingerprint) = (expiresAt, fingerprint)
    }
}

/// Why a fresh sign-in was not accepted.
package struct SignInError: Error, Sendable, CustomStringConvertible {
    /// The closed set of causes; `rawValue` is the problem `code` on the wire.
    package enum Kind: String, Sendable, CaseIterable {
        case malformedIDToken = "malformed_id_token"
        case unknownKey = "id_token_unknown_key"
        case badSignature = "id_token_bad_signature"
        case wrongIssuer = "id_token_wrong_issuer"
        case wrongAudience = "id_token_wrong_audience"
        case expired = "id_token_expired"
        case issuedInFuture = "id_token_issued_in_future"
        case nonceMismatch = "id_token_nonce_mismatch"
        case missingSubject = "id_token_missing_subject"
        case keysUnavailable = "id_token_keys_unavailable"
        case unsupported = "id_token_unsupported"

        var reason: String {
            switch self {
            case .malformedIDToken: "it is no id token"
            case .unknownKey: "the provider has no such signing key"
            case .badSignature: "the signature is not the provider's"
            case .wrongIssuer: "another provider issued it"
            case .wrongAudience: "it is for another client id"
            case .expired: "it has expired"
            case .issuedInFuture: "it was issued in the future; check the clock"
            case .nonceMismatch: "its nonce is another one"
            case .missingSubject: "it names no user"
            case .keysUnavailable: "the provider's keys cannot be read now"
            case .unsupported: "this provider has no id tokens that can be checked"
            }
        }
    }

    package let kind: Kind
    package let provider: ProviderName

    package init(kind: Kind, provider: ProviderName) {
        (self.kind, self.provider) = (kind, provider)
    }

    package var description: String {
        "cannot accept the id token for '\(provider)' (\(kind.rawValue)): \(kind.reason)"
    }
}

/// One identity provider: exchanges, checks and revokes credentials.
///
/// No call throws: everything that can happen at a provider is an answer, and what is not
/// understood is ``Lifecycle/EffectFailure``. A call is bounded in time by the adapter itself; a
/// cancelled call answers `.failure(.lost)` once anything was sent and `.failure(.unreachable)`
/// before that.
package protocol IdentityProvider: Sendable {
    var name: ProviderName { get }

    var traits: ProviderTraits { get }

    /// Whether it is set up for a client. No call is made for a credential of another one.
    func serves(_ clientID: String) -> Bool

    /// Exchanges an authorization code. Not idempotent: call it once per code.
    func exchange(_ code: OpenCredential) async -> ExchangeAnswer

    /// Asks whether a token is live, where `traits` says that may be asked.
    func check(_ credential: OpenCredential) async -> CheckAnswer

    /// Refreshes a token so that it does not die unused.
    func renew(_ credential: OpenCredential) async -> CheckAnswer

    /// Asks for revocation. Idempotent.
    func revoke(_ credential: OpenCredential) async -> RevokeAnswer

    /// Whether ``verify(_:)`` can prove who signed in, since the provider issues id tokens.
    var issuesIDTokens: Bool { get }

    /// Verifies a fresh sign-in: signature by `kid`, issuer, audience, expiry and nonce.
    ///
    /// - Throws: ``SignInError`` for the first rule that the token breaks.
    func verify(_ signIn: SignIn) async throws(SignInError) -> VerifiedSignIn

    /// Whether a directory's name for a user at this provider is the user of `subject`.
    func isName(_ name: Secret, of subject: Secret) -> Bool

    /// Makes one harmless call; `nil` when all is well.
    func diagnose() async -> EffectFailure?

    func problem() async -> ProviderProblem?

    /// The clients and directories that the provider refuses, as far as it was asked.
    var refusedClients: [RefusedClient] { get }
}

/// A client id or directory that a provider refuses, while it takes others.
package struct RefusedClient: Hashable, Sendable {
    package let since: WallTime
    /// With the name of the client.
    package let answer: Refusal

    package init(since: WallTime, answer: Refusal) { (self.since, self.answer) = (since, answer) }
}

/// What a look at a provider's set-up found.
package struct ProviderProblem: Hashable, Sendable {
    package let failure: EffectFailure
    /// For an operator, without secrets; empty when there is nothing to add.
    package let text: String
    /// The answer whose status and error the text has.
    let named: Refusal?

    package init(_ failure: EffectFailure, _ text: String, naming named: Refusal? = nil) {
        (self.failure, self.text, self.named) = (failure, text, named ?? failure.refusal)
    }

    package var finding: String {
        text.isEmpty ? failure.code : "\(failure.code): \(text)"
    }
}

/// A provider that makes the calls itself.
///
/// The defaults are here, so that a wrapper has to pass on every requirement.
package protocol ProviderAdapter: IdentityProvider {}

extension ProviderAdapter {
    package func isName(_ name: Secret, of subject: Secret) -> Bool { name.isEqual(to: subject) }

    package var issuesIDTokens: Bool { true }

    package var refusedClients: [RefusedClient] { [] }

    package func problem() async -> ProviderProblem? {
        await diagnose().map { ProviderProblem($0, $0.advice(on: name)) }
    }

    package func renew(_ credential: OpenCredential) async -> CheckAnswer {
        await check(credential)
    }
}

extension EffectFailure {
    /// What to look at when a provider's own diagnosis says no more.
    package func advice(on provider: ProviderName) -> String {
        switch self {
        case .unreachable:
            "no connection, or no certificate for the host; check the network, proxy, ca_file and"
                + " the URLs of '\(provider)'"
        case .throttled: "'\(provider)' asks to come back later"
        case .lost: "'\(provider)' did not answer in time; check timeout_total and the network"
        case .unusable:
            "'\(provider)' answered what it does not document; check its URLs and what stands"
                + " between"
        case .rejected, .refused: "'\(provider)' refused the test call; check client_ids"
        case .refusesAll(let answer) where answer.client != nil:
            "'\(provider)' refuses \(answer.text); check what it knows of that, its secret or key,"
                + " and this machine's clock"
        case .refusesAll(let answer):
            "'\(provider)' refuses whatever it is asked (\(answer.text)); check its URLs, what"
                + " stands between, and its status page"
        case .misconfigured:
            "'\(provider)' refuses the client; check client_ids, its secret or key, and this"
                + " machine's clock"
        case .notConfigured, .sealBroken, .vaultSealed, .keys, .blocked: ""
        }
    }
}
