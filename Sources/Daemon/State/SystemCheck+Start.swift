import Engine
import Glibc
import Settings
import Storage
import Systemd
import Vault

/// What can end a start, by the checks that the start makes.
extension SystemCheck {
    func startFindings(_ configuration: DaemonConfiguration) async -> [Finding] {
        let (facts, stateFindings) = examineState(configuration)
        var found: [Finding] = []
        for step in StartStep.allCases {
            switch step {
            case .directories: found += folderFindings()
            case .state: found += stateFindings
            case .configuration:
                let path = options.configurationPath
                found += findings(at: path, "put it back, or an empty file if no store is left") {
                    try DaemonBuilder.requireFile(configuration, at: path, scope: facts?.scope)
                }
            case .hashKey:
                found += keyFindings(FileHashKey.fileName, facts?.hashKey) {
                    _ = try DaemonBuilder.hashKey(in: folders.state, known: $0, mayMake: false)
                }
            case .ledger:
                found += keyFindings(LedgerKey.fileName, facts?.ledgerKey) {
                    _ = try LedgerSetup.signer(folders, known: $0, mayMake: false)
                }
            case .vault: found += vaultFindings(configuration, facts)
            case .adapters: found += await componentFindings(configuration)
            case .sockets:
                // Systemd passes those of the unit.
                guard let runtime = folders.runtime else { continue }
                guard unsafe access(runtime, W_OK | X_OK) != 0 else { continue }
                let remedy = "make the directory, and let the service own it"
                found.append(Finding(at: runtime, "no socket can be made there", remedy: remedy))
            }
        }
        return found
    }

    private func findings(
        at place: String,
        _ remedy: String,
        _ check: () throws -> Void
    ) -> [Finding] {
        do {
            try check()
            return []
        } catch {
            let problems = (error as? DaemonError)?.problems ?? ["\(error)"]
            return problems.map { Finding(at: place, $0, remedy: remedy) }
        }
    }

    private func keyFindings(
        _ name: String,
        _ known: String?,
        _ check: (String?) throws -> Void
    ) -> [Finding] {
        guard folder(folders.state, "", .error).isEmpty else { return [] }
        let remedy = "put back the \(name) of the same backup: mode 0600, owned by expunged"
        return findings(at: "\(folders.state)/\(name)", remedy) {
            do {
                try check(known)
            } catch let error as VaultSetupError where error.kind == .missing && known == nil {
                // The first start makes it.
            }
        }
    }

    private func vaultFindings(
        _ configuration: DaemonConfiguration,
        _ facts: StartFacts?
    ) -> [Finding] {
        let found = credentialFindings(configuration)
        let isUnread = found.contains { $0.severity == .error && $0.place.contains(": vault.") }
        guard !isUnread, let facts else { return found }
        let vault = VaultSetup(
            settings: configuration.vault,
            credentials: folders.credentials,
            logger: Self.silent
        )
        let place = place(of: "vault.key_credential", in: configuration)
        let remedy = "put the former key back, or name it as retired; see docs/guides/keys.md"
        return found
            + findings(at: place, remedy) {
                guard let keyring = try vault.loadKeyring() else { return }
                try vault.require(keyring, for: facts.vaultKeyIDs)
            }
    }

    private func examineState(
        _ configuration: DaemonConfiguration
    ) -> (facts: StartFacts?, found: [Finding]) {
        let setup = StateSetup(configuration: configuration, directories: folders)
        let isFile = configuration.state.kind == .sqlite
        let place = isFile ? setup.path : place(of: "state.conninfo_credential", in: configuration)
        let guide = "docs/guides/\(isFile ? "backup-and-restore" : "state-in-postgresql").md"
        do {
            if isFile { return (BackupFile.exists(place) ? try StartFacts.read(place) : nil, []) }
            try StateSetup.refuseFile(at: setup.path)
            let clock = AnchoredClock()
            let (facts, cautions) = try StateDatabase.examine(try setup.plan(now: { clock.now() }))
            let found = cautions.map {
                Finding(.warning, at: place, $0.reason, remedy: "\($0.remedy); see \(guide)")
            }
            return (facts, found)
        } catch {
            return (nil, [Finding(at: place, "\(error)", remedy: Remedy.of(error, guide))])
        }
    }
}
