import Lifecycle
import Synchronization

/// Makes what one call's refresh rotated durable, in the place of the token that it replaces.
final class RotationService: Sendable {
    private let ports: EnginePorts
    private let opener: CredentialOpener
    private let sealed: SealedCredential
    private let claims: (@Sendable () -> [PartitionClaim])?
    private let tell: @Sendable (IdentityUpdate) -> Void
    private let failure = Mutex<(any Error)?>(nil)

    /// `tell` gets what is stored now, before the call's own answer is handled.
    init(
        _ ports: EnginePorts,
        _ opener: CredentialOpener,
        of sealed: SealedCredential,
        under claims: (@Sendable () -> [PartitionClaim])? = nil,
        tell: @escaping @Sendable (IdentityUpdate) -> Void
    ) {
        (self.ports, self.opener, self.sealed) = (ports, opener, sealed)
        self.claims = claims
        self.tell = tell
    }

    var keeper: TokenKeeper { TokenKeeper { await self.keep($0) } }

    /// Throws the state's error: its truth is unknown then.
    func check() throws {
        if let error = failure.withLock({ $0 }) { throw error }
    }

    private func keep(_ token: Secret) async -> Bool {
        do {
            let change = StateChange.rotate(
                sealed.id,
                try opener.seal(rotated: token, of: sealed),
                at: ports.clock.now()
            )
            guard let update = try await commit(change) else { return false }
            tell(update)
            ports.observer.reported(.tokenRotated(sealed.provider))
            return true
        } catch is VaultError {
            return false
        } catch {
            failure.withLock { $0 = error }
            return false
        }
    }

    /// A full disk is waited out: without the commit the only token of the grant is lost.
    private func commit(_ change: StateChange) async throws -> IdentityUpdate? {
        let update = try await updates(change)
        guard case .identity(let identity)? = update.first ?? nil else { return nil }
        return identity
    }

    /// Nothing when the partition is another host's by now: the token counts as in doubt then.
    ///
    /// A host that has taken a new epoch meanwhile stores the token under that one.
    private func updates(_ change: StateChange) async throws -> [ChangeUpdate?] {
        guard let claims, let shared = ports.shared else {
            return try await ports.clock.persist { try await ports.state.commit([change]) }
        }
        let end = shared.uptime() + Limits.leaseLifetime
        repeat {
            let current = claims()
            if !current.isEmpty,
                case .committed(let updates) = await shared.store.commit([change], under: current)
            {
                return updates
            }
            try await ports.clock.sleep(until: ports.clock.now() + RetryPolicy.lease.first)
        } while shared.uptime() < end
        return []
    }
}
