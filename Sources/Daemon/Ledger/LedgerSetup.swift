import Engine
import Ledger
import Lifecycle
import Logging
import Storage
import Systemd
import Vault

/// Loads the ledger's key and compares the state with what was signed.
struct LedgerSetup: Sendable {
    private static let note = "ledger_key"

    let state: StateDatabase
    let directories: ServiceDirectories
    let clock: any EngineClock
    let logger: Logger

    /// Unless the keeper's health is `sound`, nothing may be destroyed.
    func open() async throws -> LedgerKeeper {
        if directories.logs == nil {
            let caution =
                "without a logs directory, checkpoints are beside the state; an old copy of both"
                + " is not noticed"
            logger.note(.caution, ["detail": "\(caution)"])
        }
        let known = try await state.note(Self.note)
        let keeper = try LedgerKeeper(
            state: state,
            directory: directories.logs ?? directories.state,
            signer: try Self.signer(directories, known: known),
            clock: clock,
            logger: logger
        )
        if known == nil { try await state.setNote(Self.note, to: keeper.key.description) }
        _ = try await keeper.start()
        return keeper
    }

    static func signer(
        _ directories: ServiceDirectories,
        known: String?,
        mayMake: Bool = true
    ) throws -> LedgerKey {
        let signer: LedgerKey
        if let text = try credential(in: directories.credentials) {
            signer = try LedgerKey(text: text)
        } else {
            let mayMake = mayMake && known == nil
            signer = try LedgerKey(directory: directories.state, mayCreate: mayMake)
        }
        let text = try LedgerKeeper.noteKey(of: signer).description
        guard known ?? text == text else {
            throw DaemonError(
                .state,
                "cannot use the ledger's key '\(text)' (changed): the checkpoints are signed"
                    + " with '\(known ?? "")'; put that key back (ledger.key of the state"
                    + " directory, or the credential 'ledger-key')"
            )
        }
        return signer
    }

    /// The key that is kept as a credential; `nil` without one.
    static func credential(in directory: CredentialDirectory?) throws(SystemdError) -> Secret? {
        guard let credentials = directory else { return nil }
        do throws(SystemdError) {
            return try credentials.read(LedgerKey.credentialName)
        } catch {
            guard error.kind == .missing else { throw error }
            return nil
        }
    }
}
