import Engine
import Lifecycle
import Logging
import Settings
import Vault

/// Makes recheck records as the configuration in force says.
struct RecheckSealer: RecheckOpener {
    let vault: SealedVault
    let registry: AdapterRegistry
    let logger: Logger

    func open(_ request: Request, of user: UserID) -> OpenedRecheck? {
        let intervals = registry.current.configuration.requests.rechecks
        return RecheckRun.opening(of: request, intervals: intervals).flatMap { times in
            seal(user, of: request.id, openedAt: times.openedAt, dueAt: times.dueAt)
        }
    }

    /// `user` is nobody where only ids are known; the result is `nil` when the vault cannot seal.
    func seal(
        _ user: UserID,
        of request: RequestID,
        openedAt: WallTime,
        dueAt: WallTime
    ) -> OpenedRecheck? {
        do throws(VaultError) {
            return OpenedRecheck(
                sealed: try vault.sealRecheck(user, of: request),
                openedAt: openedAt,
                dueAt: dueAt
            )
        } catch {
            logger.note(
                .operationFailed,
                [
                    "step": "seal_recheck", "request.id": "\(request)",
                    "error": "\(error.kind.rawValue)",
                ]
            )
            return nil
        }
    }
}
