import Engine
import Lifecycle
import Logging
import Providers
import Settings
import Storage
import Synchronization

/// Checks, seals and stores credentials, and passes authorization codes to the engine.
struct CredentialService: Sendable {
    let state: StateDatabase
    let vault: any CredentialVault
    let hasher: any KeyedHasher
    let registry: AdapterRegistry
    let generator: IdentifierGenerator
    let now: @Sendable () -> WallTime
    let failures: SealFailures
    let post: @Sendable (EngineInput) -> Void

    /// Stores at most a few hundred offers in one commit; one outcome each, in order.
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
        let stored = try await store(sealed.map(\.credential))
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

    /// Seals the value again: the user's key was made, wrapped anew or destroyed meanwhile.
    private func storeAgain(
        _ offer: CredentialOffer,
        under key: UserKey?
    ) async throws -> CredentialOutcome {
        var keys = key.map { [offer.userHash: $0] } ?? [:]
        switch try await seal(offer, &keys) {
        case .failure(let rejection): return .rejected(rejection.reason)
        case .success(let credential):
            return try await store([credential]).first ?? .rejected(.malformedRow)
        }
    }

    private func store(_ credentials: [NewCredential]) async throws -> [CredentialOutcome] {
        try await state.storeCredentials(
            credentials,
            now: now(),
            newID: { [generator] in generator.identityID() }
        )
    }

    private func tellEngine(_ outcomes: [CredentialOutcome]) {
        var codes: [LoadedExchange] = []
        for case .stored(let stored) in outcomes {
            if let exchange = stored.exchange { codes.append(exchange) }
            for update in [stored.update] + stored.sharedUpdate
            where !update.openRequests.isEmpty || update.isSubjectMismatch {
                post(.update(update))
            }
        }
        for case .refused(_, let update) in outcomes where !update.openRequests.isEmpty {
            post(.update(update))
        }
        if !codes.isEmpty { post(.codes(codes)) }
    }

    private struct UserKey {
        let key: WrappedKey
        let isStored: Bool
    }

    private func seal(
        _ offer: CredentialOffer,
        _ keys: inout [[UInt8]: UserKey]
    ) async throws -> Result<NewCredential, CredentialRejection> {
        let clientID: String
        let submitted = offer.credential
        var refusal: CredentialRejectReason?
        switch registry.current.configuration.clientID(submitted.clientID, at: offer.provider) {
        case .success(let resolved): clientID = resolved
        case .failure(let rejection):
            // Nobody waits for the answer to a row of the spool: the user's receipt must say so.
            guard offer.spoolRow != nil, submitted.kind != .idToken else {
                return .failure(rejection)
            }
            clientID = submitted.clientID ?? ""
            refusal = rejection.reason
        }
        guard vault.isOpen else { return .failure(CredentialRejection(reason: .vaultSealed)) }
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
            if submitted.kind == .subject { offer.credential.subject = submitted.secret }
            // It is of no provider that is known, and nobody else's.
            if refusal != nil { offer.credential.subject = nil }
            var credential = try newCredential(offer, clientID: clientID, key: key)
            credential.refusal = refusal
            return .success(credential)
        } catch {
            // It concerns this user alone, or comes back with a restart: the others go on.
            failures.note(error.kind)
            return .failure(CredentialRejection(reason: .vaultSealed))
        }
    }

    private func newCredential(
        _ offer: CredentialOffer,
        clientID: String,
        key userKey: UserKey
    ) throws(VaultError) -> NewCredential {
        let (key, submitted) = (userKey.key, offer.credential)
        let nonce = generator.rowNonce()
        func seal(
            _ value: Secret,
            as field: SealField,
            _ nonce: [UInt8]
        ) throws(VaultError) -> [UInt8] {
            let context = SealContext(
                field: field.rawValue,
                rowNonce: nonce,
                provider: offer.provider,
                userHash: offer.userHash
            )
            return try vault.seal(value, under: key, context: context)
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
            kind: submitted.kind,
            rowNonce: nonce,
            sealedSecret: try seal(submitted.secret, as: .secret, nonce),
            fingerprint: hasher.hash(submitted.secret.exposeText(), domain: .credential),
            createdAt: offer.createdAt
        )
        if let verifier = submitted.codeVerifier {
            credential.sealedCodeVerifier = try seal(verifier, as: .codeVerifier, nonce)
        }
        if let subject = submitted.subject {
            let subjectNonce = generator.rowNonce()
            credential.subject = LearnedSubject(
                hash: SubjectHash.make(subject, at: offer.provider, hasher),
                rowNonce: subjectNonce,
                sealed: try seal(subject, as: .subject, subjectNonce)
            )
        }
        credential.isUserKeyStored = userKey.isStored
        credential.redirectURI = submitted.redirectURI
        credential.spoolRow = offer.spoolRow
        credential.signIn = offer.signIn
        credential.isReauthorization = offer.isReauthorization
        return credential
    }
}

struct CredentialRejection: Error { let reason: CredentialRejectReason }

extension DaemonConfiguration {
    /// The client id that is meant: the named one, or the provider's only one.
    func clientID(
        _ named: String?,
        at name: ProviderName
    ) -> Result<String, CredentialRejection> {
        guard let provider = providers.first(where: { $0.name == name }) else {
            return .failure(CredentialRejection(reason: .unknownProvider))
        }
        if let named {
            return provider.clientIDs.contains(named)
                ? .success(named) : .failure(CredentialRejection(reason: .unknownClientID))
        }
        return provider.clientIDs.count == 1
            ? .success(provider.clientIDs[0])
            : .failure(CredentialRejection(reason: .clientIDRequired))
    }
}

/// Remembers why credentials could not be sealed, so that each reason is reported once.
final class SealFailures: Sendable {
    private let kinds = Mutex(Set<VaultError.Kind>())
    private let logger: Logger

    init(logger: Logger) { self.logger = logger }

    var isAny: Bool { kinds.withLock { !$0.isEmpty } }

    /// Every credential of the spool is sealed.
    func clear() { kinds.withLock { $0.removeAll() } }

    func note(_ kind: VaultError.Kind) {
        guard kinds.withLock({ $0.insert(kind).inserted }) else { return }
        logger.note(.credentialNotSealed, ["error": "\(kind.rawValue)"])
    }
}

struct IdentifierGenerator: Sendable {
    let now: @Sendable () -> WallTime

    func requestID() -> RequestID { RequestID(timeOrdered()) }

    func identityID() -> IdentityID { IdentityID(timeOrdered()) }

    /// Sixteen random bytes that bind a sealed value to its row.
    func rowNonce() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<2).flatMap { _ in
            let word = generator.next() as UInt64
            return (0..<8).map { UInt8(truncatingIfNeeded: word >> (UInt64($0) * 8)) }
        }
    }

    private func timeOrdered() -> TimeOrderedID {
        var generator = SystemRandomNumberGenerator()
        return TimeOrderedID(at: now(), entropy: &generator)
    }
}
