import Lifecycle
import Logging
import Settings
import Storage
import Systemd
import Vault

struct VaultSetup: Sendable {
    let settings: VaultConfiguration
    let credentials: CredentialDirectory?
    let logger: Logger

    /// Loads the keys, and checks that they open what is stored.
    ///
    /// Without the active key the vault is sealed. A key that opens nothing stops the start: tokens
    /// would be judged unusable, and deletions would go on without revoking them.
    func open(for state: StateDatabase) async throws -> SealedVault {
        let keyring: VaultKeyring?
        do {
            keyring = try loadKeyring()
        } catch {
            let directory = credentials.map { " in '\($0.path)'" } ?? ""
            throw DaemonError(
                .credential,
                "\(error)",
                "hint: put the key\(directory) back from its copy, and start the service again;"
                    + " only a new service gets a new one: expunged --generate-vault-key FILE"
            )
        }
        guard let keyring else { return SealedVault(keyring: nil) }
        try require(keyring, for: try await state.vaultKeyIDs())
        logger.note(.vaultOpened, ["detail": "\(keyring.active.id)"])
        return SealedVault(
            keyring: keyring,
            wrapsBefore: UInt64(try await state.wrapCount(of: keyring.active.id)),
            lostKeyIDs: Set(settings.lostKeyIDs)
        )
    }

    func require(_ keyring: VaultKeyring, for usedIDs: [String]) throws(DaemonError) {
        let missing = usedIDs.filter {
            keyring.key(id: $0) == nil && !settings.lostKeyIDs.contains($0)
        }
        guard missing.isEmpty else {
            let problems = missing.map { refusal($0, active: keyring.active.id) }
            throw DaemonError(.credential, problems: problems)
        }
    }

    /// The keys of the credentials; `nil` without the active one.
    func loadKeyring() throws -> VaultKeyring? {
        guard let credentials else {
            logger.note(.vaultSealed, ["error": "no credentials directory"])
            return nil
        }
        let name = settings.keyCredential
        let active: VaultKey
        do {
            active = try VaultKey(text: try credentials.read(name), name: name)
        } catch let error as SystemdError {
            logger.note(.vaultSealed, ["error": "\(error)"])
            return nil
        }
        let retired = try settings.retiredKeyCredentials.map {
            try VaultKey(text: try credentials.read($0), name: $0)
        }
        return VaultKeyring(active: active, retired: retired)
    }

    private func refusal(_ id: String, active: String) -> String {
        "cannot open the vault at '\(settings.keyCredential)' (unknown_vault_key): stored"
            + " credentials are sealed under key '\(id)', and the key there is '\(active)'; put key"
            + " '\(id)' back, or name its credential in vault.retired_key_credentials, or, only if"
            + " it is lost for good, its id in vault.lost_key_ids; without any vault key the"
            + " service starts sealed"
    }
}
