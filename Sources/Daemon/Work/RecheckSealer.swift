import Engine
import Lifecycle
import Logging
import Settings
import Vault

/// Opens cases as the configuration in force wants it.
struct RecheckSealer: RecheckOpener {
    let vault: SealedVault
    let registry: AdapterRegistry
    let logger: Logger

    func open(_ request: Request, of user: UserID) -> OpenedRecheck? {
        guard let first = registry.current.configuration.requests.rechecks.first,
            let endedAt = request.endedAt
        else { return nil }
        return seal(user, of: request.id, openedAt: endedAt, dueAt: endedAt + first)
    }

    /// Opens the case of a deletion anew whose data came back after the last look.
    ///
    /// - Parameters:
    ///   - request: The deletion.
    ///   - user: Whom it erased; nobody (``Lifecycle/UserID/nobody()``) where only ids are known.
    ///   - now: From when on the looks are counted.
    /// - Returns: `nil` when nobody can look again.
    func reopen(_ request: RequestID, of user: UserID, at now: WallTime) -> OpenedRecheck? {
        let first =
            registry.current.configuration.requests.rechecks.first ?? RecheckService.againAfter
        return seal(user, of: request, openedAt: now, dueAt: now + first)
    }

    private func seal(
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
            // The erasure is done and verified; it is not held up by what comes after it.
            logger.error(
                "cannot seal a case, nobody will look again",
                metadata: ["request.id": "\(request)", "error": "\(error.kind.rawValue)"]
            )
            return nil
        }
    }
}
