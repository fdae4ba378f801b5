import Engine
import Lifecycle
import Providers
import Settings
import Storage
import Synchronization

/// Checks that a sign-in is real, the user's own, fresh, and used once.
final class SignInService: Sendable {
    /// Users that are remembered as waiting for a provider's keys; deletions of more are refused.
    private static let waitingMax = 10_000

    private let state: StateDatabase
    private let hasher: any KeyedHasher
    private let registry: AdapterRegistry
    /// Whose sign-in of the spool could not be judged yet, and until when it would count.
    ///
    /// A restart finds them again: it reads the spool from its first row.
    private let waiting = Mutex<[[UInt8]: WallTime]>([:])

    init(state: StateDatabase, hasher: any KeyedHasher, registry: AdapterRegistry) {
        self.state = state
        self.hasher = hasher
        self.registry = registry
    }

    /// Records a verified sign-in as the user's.
    ///
    /// - Throws: What the store throws; nothing was recorded.
    func record(
        _ verified: VerifiedSignIn,
        at provider: ProviderName,
        of userHash: [UInt8]
    ) async throws -> SignInOutcome {
        try await state.record(proven(verified, at: provider, of: userHash))
    }

    /// What there is to record of a verified sign-in.
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

    /// Takes the id tokens of the spool that came with their nonce as sign-ins, before they are
    /// sealed.
    ///
    /// A token that is not believed is no proof, and the deletion is refused for want of one. Of a
    /// row that was taken already, the time is stored and the token used: nothing changes.
    ///
    /// - Returns: Users whose sign-in cannot be judged now; their deletions wait, but no longer
    ///   than a sign-in counts.
    /// - Throws: What the store throws; whatever was recorded stays.
    func prove(_ rows: [SpoolCredential], now: WallTime) async throws -> Set<[UInt8]> {
        guard let ageMax = registry.current.configuration.requests.signInAgeMax else { return [] }
        for row in rows where row.kind == .idToken {
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

    private func wait(for row: SpoolCredential, until end: WallTime) {
        waiting.withLock { waiting in
            guard waiting.count < Self.waitingMax else { return }
            waiting[row.userHash] = max(end, waiting[row.userHash] ?? end)
        }
    }

    private func signIn(_ row: SpoolCredential) -> SignIn? {
        guard let rawNonce = row.rawNonce, let clientID = row.clientID ?? onlyClientID(row.provider)
        else { return nil }
        return SignIn(clientID: clientID, idToken: row.secret, rawNonce: rawNonce)
    }

    private func onlyClientID(_ name: ProviderName) -> String? {
        let provider = registry.current.configuration.providers.first { $0.name == name }
        return provider.flatMap { $0.clientIDs.count == 1 ? $0.clientIDs.first : nil }
    }
}
