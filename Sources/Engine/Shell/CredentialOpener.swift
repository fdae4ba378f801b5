package import Lifecycle

/// Opens sealed credentials for one call and seals what calls bring.
struct CredentialOpener: Sendable {
    let vault: any CredentialVault
    let hasher: any KeyedHasher
    let makeRowNonce: @Sendable () -> [UInt8]

    /// Providers answer 200 to a wrong token, too (RFC 7009 §2.2), so the fingerprint comes first.
    func open(_ sealed: SealedCredential) throws(VaultError) -> OpenCredential {
        let secret = try vault.open(
            sealed.sealedSecret,
            under: sealed.userKey,
            context: context(.secret, sealed.rowNonce, of: sealed)
        )
        guard hasher.hash(secret.exposeText(), domain: .credential) == sealed.fingerprint else {
            throw VaultError(kind: .broken)
        }
        var verifier: Secret?
        if let sealedVerifier = sealed.sealedCodeVerifier {
            verifier = try vault.open(
                sealedVerifier,
                under: sealed.userKey,
                context: context(.codeVerifier, sealed.rowNonce, of: sealed)
            )
        }
        var credential = OpenCredential(
            kind: sealed.kind,
            clientID: sealed.clientID,
            secret: secret,
            redirectURI: sealed.redirectURI,
            codeVerifier: verifier
        )
        credential.subject = try openSubject(of: sealed)
        credential.isFromCode = sealed.isFromCode
        return credential
    }

    func openSubject(of sealed: SealedCredential) throws(VaultError) -> Secret? {
        guard let subject = sealed.subject else { return nil }
        return try vault.open(
            subject.sealed,
            under: sealed.userKey,
            context: context(.subject, subject.rowNonce, of: sealed)
        )
    }

    func seal(
        rotated token: Secret,
        of credential: SealedCredential
    ) throws(VaultError) -> SealedToken {
        try seal(token, kind: credential.kind, expiresAt: nil, from: credential)
    }

    func seal(
        _ tokens: ExchangedTokens,
        from code: SealedCredential,
        at now: WallTime
    ) throws(VaultError) -> ExchangeResult {
        var sealed: [SealedToken] = []
        if let token = tokens.refreshToken {
            sealed.append(try seal(token, kind: .refreshToken, expiresAt: nil, from: code))
        }
        if let token = tokens.accessToken {
            let expiresAt = tokens.accessTokenLifetime.map { now + $0 }
            sealed.append(try seal(token, kind: .accessToken, expiresAt: expiresAt, from: code))
        }
        var subject: LearnedSubject?
        if let told = tokens.subject {
            let nonce = makeRowNonce()
            subject = LearnedSubject(
                hash: SubjectHash.make(told, at: code.provider, hasher),
                rowNonce: nonce,
                sealed: try vault.seal(
                    told,
                    under: code.userKey,
                    context: context(.subject, nonce, of: code)
                )
            )
        }
        return ExchangeResult(event: .exchanged, tokens: sealed, subject: subject)
    }

    private func seal(
        _ token: Secret,
        kind: CredentialKind,
        expiresAt: WallTime?,
        from code: SealedCredential
    ) throws(VaultError) -> SealedToken {
        let nonce = makeRowNonce()
        let context = context(.secret, nonce, of: code)
        return SealedToken(
            kind: kind,
            rowNonce: nonce,
            sealedSecret: try vault.seal(token, under: code.userKey, context: context),
            fingerprint: hasher.hash(token.exposeText(), domain: .credential),
            expiresAt: expiresAt
        )
    }

    private func context(
        _ field: SealField,
        _ rowNonce: [UInt8],
        of sealed: SealedCredential
    ) -> SealContext {
        SealContext(
            field: field.rawValue,
            rowNonce: rowNonce,
            provider: sealed.provider,
            userHash: sealed.userHash
        )
    }
}

/// The columns that hold sealed values; part of what is authenticated.
package enum SealField: String, Sendable, CaseIterable {
    case secret = "credentials.secret"
    case codeVerifier = "credentials.code_verifier"
    case subject = "identities.subject"
    case userID = "users.user_id"
}

/// The keyed hash of a provider's own name for a user; the provider is part of it, because names of
/// two providers are not comparable.
package enum SubjectHash {
    /// 32 bytes.
    package static func make(
        _ subject: Secret,
        at provider: ProviderName,
        _ hasher: any KeyedHasher
    ) -> [UInt8] {
        hasher.hash(provider.rawValue + "\u{0}" + subject.exposeText(), domain: .subject)
    }
}
