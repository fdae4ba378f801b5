import Engine
import Lifecycle
import Providers
import Settings
import Storage

/// Checks that a sign-in is real, the user's own, fresh, and used once.
struct SignInService: Sendable {
    /// Users that wait for a provider's keys; deletions of more are refused.
    private static let waitingMax = 10_000

    let state: StateDatabase
    let hasher: any KeyedHasher
    let registry: AdapterRegistry
    /// Until when the sign-in of users would count that could not be judged yet.
    private let waiting = Latest<[[UInt8]: WallTime]>([:])

    func record(
        _ verified: VerifiedSignIn,
        at provider: ProviderName,
        of userHash: [UInt8]
    ) async throws -> SignInOutcome {
        try await state.record(proven(verified, at: provider, of: userHash))
    }

    func proven(
        _ verified: VerifiedSignIn,
        at provider: ProviderName,
        of userHash: [UInt8]
    ) -> ProvenSignIn {
        ProvenSignIn(
            userHash: userHash,
            provider: provider,
            subjectHash: SubjectHash.make(verified.subject, at: provider, hasher),
            signedInAt: verified.authenticatedAt,
            fingerprint: verified.fingerprint,
            expiresAt: verified.expiresAt
        )
    }

    /// Records the id tokens of the spool that came with their nonce as sign-ins.
    ///
    /// Returns the users whose sign-in cannot be judged now; their deletions wait, but no longer
    /// than a sign-in counts. A row that was accepted before changes nothing.
    func prove(_ rows: [CredentialOffer], now: WallTime) async throws -> Set<[UInt8]> {
        guard let ageMax = registry.current.configuration.requests.signInAgeMax else { return [] }
        for row in rows where row.credential.kind == .idToken {
            guard let signIn = signIn(row), let adapter = registry.current.providers[row.provider]
            else { continue }
            _ = waiting.withLock { $0.removeValue(forKey: row.userHash) }
            let verified: VerifiedSignIn
            do {
                verified = try await adapter.verify(signIn)
            } catch {
                if error.kind == .keysUnavailable { wait(for: row, until: row.createdAt + ageMax) }
                continue
            }
            _ = try await record(verified, at: row.provider, of: row.userHash)
        }
        return waiting.withLock { waiting in
            waiting = waiting.filter { now <= $0.value }
            return Set(waiting.keys)
        }
    }

    private func wait(for row: CredentialOffer, until end: WallTime) {
        waiting.withLock { waiting in
            guard waiting.count < Self.waitingMax else { return }
            waiting[row.userHash] = max(end, waiting[row.userHash] ?? end)
        }
    }

    private func signIn(_ row: CredentialOffer) -> SignIn? {
        var clientID = row.credential.clientID
        if clientID == nil {
            let configuration = registry.current.configuration
            guard case .success(let only) = configuration.clientID(nil, at: row.provider) else {
                return nil
            }
            clientID = only
        }
        guard let rawNonce = row.credential.rawNonce, let clientID else { return nil }
        return SignIn(clientID: clientID, idToken: row.credential.secret, rawNonce: rawNonce)
    }
}
