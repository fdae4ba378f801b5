import Engine
import Lifecycle
import Logging
import Settings
import Vault

/// Opens cases as the configuration in force wants it.
struct CaseSealer: CaseOpener {
    let vault: SealedVault
    let shelf: AdapterShelf
    let logger: Logger

    func open(_ request: Request, of user: UserID) -> OpenedCase? {
        guard let first = shelf.current.configuration.requests.rechecks.first,
            let endedAt = request.endedAt
        else { return nil }
        do throws(VaultError) {
            return OpenedCase(
                sealed: try vault.sealCase(user, of: request.id),
                openedAt: endedAt,
                dueAt: endedAt + first
            )
        } catch {
            // The erasure is done and verified; it is not held up by what comes after it.
            logger.error(
                "cannot seal a case, nobody will look again",
                metadata: ["request.id": "\(request.id)", "error": "\(error.kind.rawValue)"]
            )
            return nil
        }
    }
}
