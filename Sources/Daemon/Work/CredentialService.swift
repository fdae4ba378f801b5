import Engine
import Lifecycle
import Providers
import Settings
import Storage
import Synchronization

/// A credential as an application handed it in, from whichever side.
struct CredentialOffer: Sendable {
    let user: UserID
    let userHash: [UInt8]
    let provider: ProviderName
    let kind: CredentialKind
    let secret: Secret
    let createdAt: WallTime
    var clientID: String?
    var subject: Secret?
    var redirectURI: String?
    var codeVerifier: Secret?
    var spoolRow: SpoolRow?
    /// The sign-in that it came with.
    var signIn: ProvenSignIn?
}

/// Checks, seals and stores credentials, and hands authorization codes to the five-minute lane.
struct CredentialService: Sendable {
    let state: StateDatabase
    let vault: any CredentialVault
    let hasher: any KeyedHasher
    let registry: AdapterRegistry
    let generator: IdentifierGenerator
    let now: @Sendable () -> WallTime
    let failures: SealFailures
    /// Where codes and updates go once they are durable.
    let post: @Sendable (EngineInput) -> Void

    /// Stores a batch in one commit.
    ///
    /// - Parameter offers: At most a few hundred.
    /// - Returns: One outcome per offer, in order.
    /// - Throws: What the store throws; nothing is acknowledged then.
    func store(_ offers: [CredentialOffer]) async throws -> [CredentialOutcome] {
        var outcomes = [CredentialOutcome?](repeating: nil, count: offers.count)
        var sealed: [(index: Int, credential: NewCredential)] = []
        var keys: [[UInt8]: UserKey] = [:]
        for (index, offer) in offers.enumerated() {
            switch try await seal(offer, &keys) {
            case .success(let credential): sealed.append((index, credential))
            case .failure(let rejection): outcomes[index] = .rejected(rejection.reason)
            }
        }
        let stored = try await state.storeCredentials(
            sealed.map(\.credential),
            now: now(),
            newID: { [generator] in generator.identityID() }
        )
        for ((index, _), outcome) in zip(sealed, stored) { outcomes[index] = outcome }
        for index in outcomes.indices {
            switch outcomes[index] {
            case .otherKey(let key):
                let key = UserKey(key: key, isStored: true)
                outcomes[index] = try await storeAgain(offers[index], under: key)
            case .keyGone: outcomes[index] = try await storeAgain(offers[index], under: nil)
            case .stored, .rejected, .refused, .importedBefore, .signInUsed, nil: break
            }
        }
        let all = outcomes.compactMap(\.self)
        tellEngine(all)
        return all
    }

    /// Somebody else made the user's key first, wrapped it anew or destroyed it; the value is
    /// sealed again under the one there is now.
    private func storeAgain(
        _ offer: CredentialOffer,
        under key: UserKey?
    ) async throws -> CredentialOutcome {
        var keys = key.map { [offer.userHash: $0] } ?? [:]
        switch try await seal(offer, &keys) {
        case .failure(let rejection): return .rejected(rejection.reason)
        case .success(let credential):
            let outcomes = try await state.storeCredentials(
                [credential],
                now: now(),
                newID: { [generator] in generator.identityID() }
            )
            return outcomes.first ?? .rejected(.malformedRow)
        }
    }

    private func tellEngine(_ outcomes: [CredentialOutcome]) {
        var codes: [LoadedExchange] = []
        for case .stored(let stored) in outcomes {
            if let exchange = stored.exchange { codes.append(exchange) }
            for update in [stored.update] + stored.sharedUpdate where !update.openRequests.isEmpty {
                post(.update(update))
            }
        }
        for case .refused(_, let update) in outcomes where !update.openRequests.isEmpty {
            post(.update(update))
        }
        if !codes.isEmpty { post(.codes(codes)) }
    }

    private struct Rejection: Error { let reason: CredentialRejectReason }

    private struct UserKey {
        let key: WrappedKey
        /// Read from the store, not made here.
        let isStored: Bool
    }

    private func seal(
        _ offer: CredentialOffer,
        _ keys: inout [[UInt8]: UserKey]
    ) async throws -> Result<NewCredential, Rejection> {
        let clientID: String
        var refusal: CredentialRejectReason?
        switch resolveClientID(offer) {
        case .success(let resolved): clientID = resolved
        case .failure(let rejection):
            // Nobody waits for the answer to a row of the spool: the user's receipt must say so.
            guard offer.spoolRow != nil, offer.kind != .idToken else { return .failure(rejection) }
            clientID = offer.clientID ?? ""
            refusal = rejection.reason
        }
        guard vault.isOpen else { return .failure(Rejection(reason: .vaultSealed)) }
        let known: UserKey?
        if let used = keys[offer.userHash] {
            known = used
        } else {
            known = try await state.userKey(offer.userHash).map { UserKey(key: $0, isStored: true) }
        }
        do throws(VaultError) {
            let key: UserKey
            if let known {
                key = known
            } else {
                let made = try vault.makeUserKey(userHash: offer.userHash)
                key = UserKey(key: made, isStored: false)
            }
            keys[offer.userHash] = key
            var offer = offer
            // It is of no provider that is known, and nobody else's.
            if refusal != nil { offer.subject = nil }
            var credential = try newCredential(offer, clientID: clientID, key: key)
            credential.refusal = refusal
            return .success(credential)
        } catch {
            // It concerns this user alone, or comes back with a restart: the others go on.
            failures.note(error.kind)
            return .failure(Rejection(reason: .vaultSealed))
        }
    }

    private func newCredential(
        _ offer: CredentialOffer,
        clientID: String,
        key userKey: UserKey
    ) throws(VaultError) -> NewCredential {
        let key = userKey.key
        let nonce = generator.rowNonce()
        func context(_ field: SealField, _ nonce: [UInt8]) -> SealContext {
            SealContext(
                field: field.rawValue,
                rowNonce: nonce,
                provider: offer.provider,
                userHash: offer.userHash
            )
        }
        let idNonce = generator.rowNonce()
        var credential = NewCredential(
            userHash: offer.userHash,
            userKey: key,
            userID: SealedUserID(
                rowNonce: idNonce,
                sealed: try vault.seal(
                    Secret(offer.user.exposeText()),
                    under: key,
                    context: SealedUserID.context(rowNonce: idNonce, userHash: offer.userHash)
                )
            ),
            provider: offer.provider,
            clientID: clientID,
            kind: offer.kind,
            rowNonce: nonce,
            sealedSecret: try vault.seal(
                offer.secret,
                under: key,
                context: context(.secret, nonce)
            ),
            fingerprint: hasher.hash(offer.secret.exposeText(), domain: .credential),
            createdAt: offer.createdAt
        )
        if let verifier = offer.codeVerifier {
            credential.sealedCodeVerifier = try vault.seal(
                verifier,
                under: key,
                context: context(.codeVerifier, nonce)
            )
        }
        if let subject = offer.subject {
            let subjectNonce = generator.rowNonce()
            credential.subject = LearnedSubject(
                hash: SubjectHash.make(subject, at: offer.provider, hasher),
                rowNonce: subjectNonce,
                sealed: try vault.seal(
                    subject,
                    under: key,
                    context: context(.subject, subjectNonce)
                )
            )
        }
        credential.isUserKeyStored = userKey.isStored
        credential.redirectURI = offer.redirectURI
        credential.spoolRow = offer.spoolRow
        credential.signIn = offer.signIn
        return credential
    }

    private func resolveClientID(_ offer: CredentialOffer) -> Result<String, Rejection> {
        let providers = registry.current.configuration.providers
        guard let provider = providers.first(where: { $0.name == offer.provider }) else {
            return .failure(Rejection(reason: .unknownProvider))
        }
        guard let named = offer.clientID else {
            guard provider.clientIDs.count == 1, let only = provider.clientIDs.first else {
                return .failure(Rejection(reason: .clientIDRequired))
            }
            return .success(only)
        }
        guard provider.clientIDs.contains(named) else {
            return .failure(Rejection(reason: .unknownClientID))
        }
        return .success(named)
    }
}
