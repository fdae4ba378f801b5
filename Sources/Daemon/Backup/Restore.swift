import Cryptography
import Encoding
import Glibc
import Ledger
import Lifecycle
import Settings
import Storage
import Systemd
import Vault

/// Puts a backup in the place of the state, after everything in it was checked.
struct Restore {
    private static let manifestByteCountMax = 1 << 16

    let stateDirectory: String
    let vault: VaultSetup
    let now: @Sendable () -> WallTime

    /// Restores `file`, and returns what was done and what comes next.
    ///
    /// It changes nothing before the last check. The spool and the checkpoint file stay.
    ///
    /// - Throws: ``DaemonError`` or ``Storage/StorageError``.
    func read(_ file: String) throws -> String {
        let archive = try BackupFile(reading: file)
        let lock = try takeLock()
        defer { lock.release() }
        let folder = try BackupFolder(in: stateDirectory)
        let manifest = try extract(archive, to: folder.path)
        let state = try BackupState(in: folder.path)
        let tree = state.copy.audit.frontier
        guard tree.size == manifest.ledgerSize, tree.root() == manifest.ledgerRoot else {
            throw damaged(file, "its ledger is not the one that its manifest names")
        }
        try checkLedgerKey(of: state)
        try checkVaultKeys(of: state)
        let kept = try place(state, from: folder.path)
        let former = kept.map { ["the former files are in '\($0)'"] } ?? []
        return summary(file, manifest, former + [state.holdLine])
    }

    private var statePath: String { "\(stateDirectory)/\(BackupState.stateName)" }

    /// Keeps the service from starting until the end.
    private func takeLock() throws -> StateLock {
        do throws(StorageError) {
            return try StateLock(ofStateAt: statePath)
        } catch {
            guard error.kind == .inUse else {
                throw DaemonError(
                    .state,
                    "\(error)",
                    "hint: run it as root, once expunged is installed"
                )
            }
            throw DaemonError(
                .state,
                "cannot restore into '\(stateDirectory)': the service uses it",
                "hint: systemctl stop expunged-control.socket expunged-submit.socket"
                    + " expunged-viewer.socket expunged.service"
            )
        }
    }

    private func damaged(_ file: String, _ cause: String) -> DaemonError {
        DaemonError(
            .state,
            "cannot use backup '\(file)': \(cause)",
            "hint: nothing was changed; use another one"
        )
    }

    // MARK: The archive

    private func extract(
        _ archive: BackupFile,
        to folder: String
    ) throws(DaemonError) -> BackupManifest {
        let manifest = try readManifest(archive)
        for file in manifest.files {
            guard let member = TarArchive.member(try archive.read(TarArchive.blockByteCount)),
                member.name == file.name, member.byteCount == file.byteCount,
                BackupState.names.contains(file.name)
            else { throw damaged(archive.path, "it does not have the files of its manifest") }
            let output = try BackupFile(making: "\(folder)/\(file.name)")
            let digest = RunningSHA256()
            let count = try archive.readPieces(file.byteCount) { piece throws(DaemonError) in
                digest.add(piece)
                try output.write(piece)
            }
            _ = try archive.read(TarArchive.padding(file.byteCount).count)
            guard count == file.byteCount, digest.finish() == file.sha256 else {
                throw damaged(archive.path, "its \(file.name) is damaged or cut off")
            }
            try output.sync()
        }
        return manifest
    }

    private func readManifest(_ archive: BackupFile) throws(DaemonError) -> BackupManifest {
        guard let member = TarArchive.member(try archive.read(TarArchive.blockByteCount)),
            member.name == BackupManifest.name, member.byteCount <= Self.manifestByteCountMax,
            let manifest = BackupManifest(try archive.read(member.byteCount))
        else { throw damaged(archive.path, "it is damaged, or 'expunged backup' did not write it") }
        _ = try archive.read(TarArchive.padding(member.byteCount).count)
        return manifest
    }

    // MARK: Keys

    private func checkLedgerKey(of state: BackupState) throws {
        guard let text = try LedgerSetup.credential(in: vault.credentials) else {
            guard state.hasLedgerKey else {
                throw missingKey("the credential 'ledger-key', which signed the ledger, is missing")
            }
            return
        }
        guard try LedgerKey(text: text).publicKey == state.copy.audit.key.publicKey else {
            throw missingKey("the credential 'ledger-key' did not sign the ledger of this backup")
        }
    }

    private func checkVaultKeys(of state: BackupState) throws {
        let keyring = try vault.loadKeyring()
        for id in state.copy.facts.vaultKeyIDs
        where keyring?.key(id: id) == nil && !vault.settings.lostKeyIDs.contains(id) {
            throw missingKey(
                "this backup is sealed under vault key '\(id)', which is missing; name it in"
                    + " vault.key_credential or vault.retired_key_credentials, or, only if it is"
                    + " lost for good, its id in vault.lost_key_ids"
            )
        }
    }

    private func missingKey(_ problem: String) -> DaemonError {
        let place = vault.credentials?.path ?? "no directory"
        return DaemonError(.credential, problem, "hint: the credentials are in '\(place)'")
    }

    // MARK: The place

    /// Replaces the state so that the service cannot start between two steps: without `hash.key`
    /// it refuses a `state.db`.
    ///
    /// - Returns: The directory with the former files; `nil` without any.
    private func place(_ state: BackupState, from folder: String) throws(DaemonError) -> String? {
        let owner = try BackupFolder.status(stateDirectory)
        try BackupFile(making: CrashMarker.path(in: folder)).write([CrashMarker.restored])
        let others = state.names.filter { $0 != FileHashKey.fileName }
        let names = [CrashMarker.fileName] + others + [FileHashKey.fileName]
        for path in names.map({ "\(folder)/\($0)" }) + [StateLock.path(statePath)] {
            try own(path, owner)
        }
        let kept = try keepFormer(owner)
        try remove(FileHashKey.fileName)
        try BackupFolder.sync(stateDirectory)
        for name in ["-wal", "-shm"] { try remove(BackupState.stateName + name) }
        for name in names {
            guard unsafe rename("\(folder)/\(name)", "\(stateDirectory)/\(name)") == 0 else {
                throw BackupFile.failure("replace", "\(stateDirectory)/\(name)")
            }
            try BackupFolder.sync(stateDirectory)
        }
        return kept
    }

    private func keepFormer(_ owner: stat) throws(DaemonError) -> String? {
        let names = BackupState.names + [BackupState.stateName + "-wal"]
        let former = names.filter { BackupFile.exists("\(stateDirectory)/\($0)") }
        guard !former.isEmpty else { return nil }
        let kept = "\(stateDirectory)/replaced-\(now().unixMilliseconds)"
        guard unsafe mkdir(kept, 0o700) == 0 else { throw BackupFile.failure("create", kept) }
        try own(kept, owner)
        for name in former {
            guard unsafe link("\(stateDirectory)/\(name)", "\(kept)/\(name)") == 0 else {
                throw BackupFile.failure("keep", "\(stateDirectory)/\(name)")
            }
        }
        try BackupFolder.sync(kept)
        return kept
    }

    private func own(_ path: String, _ owner: stat) throws(DaemonError) {
        guard geteuid() == 0 else { return }
        guard unsafe lchown(path, owner.st_uid, owner.st_gid) == 0 else {
            throw BackupFile.failure("give the service", path)
        }
    }

    private func remove(_ name: String) throws(DaemonError) {
        guard unsafe unlink("\(stateDirectory)/\(name)") == 0 || errno == ENOENT else {
            throw BackupFile.failure("remove", "\(stateDirectory)/\(name)")
        }
    }

    private func summary(_ file: String, _ manifest: BackupManifest, _ facts: [String]) -> String {
        let time = manifest.createdAt.rfc3339
        let spool = SpoolPlace(stateDirectory: stateDirectory).path
        let states = "('accepted', 'scheduled', 'revoking', 'purging', 'verifying', 'parked')"
        let steps = [
            "submit the rows of the spool again, and those of queues likewise:\n"
                + "     sudo -u expunged sqlite3 \(spool) \"UPDATE requests SET\n"
                + "       state = 'submitted' WHERE state IN\n       \(states)\"",
            "systemctl start expunged.service (nothing is purged yet)",
            "expungectl list, expungectl holds: cancel and hold again what you cancelled and held"
                + " since then",
            "expungectl ledger accept-rollback, if the service reports an old or damaged state",
            "let applications repeat what they sent by socket since then, tokens included",
        ]
        return
            (["restored '\(file)', the state of \(time); the spool stayed as it was"] + facts
            + ["", "Next:"] + steps.enumerated().map { "  \($0.offset + 1). \($0.element)" })
            .joined(separator: "\n")
    }
}
