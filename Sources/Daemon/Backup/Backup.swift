import Cryptography
import Encoding
import Glibc
import Ledger
import Lifecycle
import Storage
import Vault

/// Makes a backup of the state, also while the service runs (record 41).
struct Backup {
    /// Lets the service run first while the copy is checked and written.
    private static let niceness: Int32 = 10

    let stateDirectory: String
    let now: @Sendable () -> WallTime
    var space: @Sendable (String) -> DiskSpace? = { DiskSpace(of: $0) }

    /// Writes the new file `file`, and returns what to say about it.
    ///
    /// - Throws: ``DaemonError`` or ``Storage/StorageError``; then there is no such file.
    func write(to file: String) throws -> String {
        guard !BackupFile.exists(file) else { throw Self.taken(file) }
        let time = now()
        let directory = Self.directory(of: file)
        // Read first: a missing right is best explained here.
        let hashKey = try read(FileHashKey.fileName)
        let folder = try BackupFolder(in: directory)
        try requireSpace(in: directory)
        let copy = "\(folder.path)/\(BackupState.stateName)"
        try StateCopy.make(of: "\(stateDirectory)/\(BackupState.stateName)", at: copy)
        _ = nice(Self.niceness)
        try BackupFile(making: "\(folder.path)/\(FileHashKey.fileName)").write(hashKey)
        if BackupFile.exists("\(stateDirectory)/\(LedgerKey.fileName)") {
            let key = try read(LedgerKey.fileName)
            try BackupFile(making: "\(folder.path)/\(LedgerKey.fileName)").write(key)
        }
        let state = try BackupState(in: folder.path)
        let manifest = BackupManifest(
            version: Daemon.version,
            createdAt: time,
            files: try state.names.map { try Self.describe($0, in: folder.path) },
            state: state
        )
        let byteCount = try archive(manifest, in: folder.path)
        guard unsafe link("\(folder.path)/\(Self.archiveName)", file) == 0 else {
            throw errno == EEXIST ? Self.taken(file) : BackupFile.failure("create", file)
        }
        try BackupFolder.sync(directory)
        return summary(file, byteCount, manifest, state)
    }

    private static let archiveName = "backup.tar"

    static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func taken(_ file: String) -> DaemonError {
        DaemonError(.state, "cannot create '\(file)': it exists, and a backup overwrites nothing")
    }

    /// The copy and the archive of it are there at once.
    private func requireSpace(in directory: String) throws {
        let needed = 2 * (try StateCopy.byteCount(of: "\(stateDirectory)/\(BackupState.stateName)"))
        guard let free = space(directory)?.freeBytes, free < needed else { return }
        throw DaemonError(
            .state,
            "cannot back up to '\(directory)' (no_space): \(free >> 20) MiB are free, and the copy"
                + " and the archive of it need \(needed >> 20) MiB",
            "hint: free space there, or name a file on another disk"
        )
    }

    private func read(_ name: String) throws(DaemonError) -> [UInt8] {
        try BackupFile(reading: "\(stateDirectory)/\(name)").read(FileHashKey.byteCount)
    }

    private static func describe(
        _ name: String,
        in folder: String
    ) throws(DaemonError) -> BackupManifest.File {
        let digest = RunningSHA256()
        let byteCount = try BackupFile(reading: "\(folder)/\(name)").readPieces(.max) {
            digest.add($0)
        }
        return BackupManifest.File(name: name, byteCount: byteCount, sha256: digest.finish())
    }

    private func archive(
        _ manifest: BackupManifest,
        in folder: String
    ) throws(DaemonError) -> Int {
        let archive = try BackupFile(making: "\(folder)/\(Self.archiveName)")
        try archive.write(TarArchive.member(BackupManifest.name, Array(manifest.text.utf8)))
        for file in manifest.files {
            try archive.write(TarArchive.header(file.name, byteCount: file.byteCount))
            _ = try BackupFile(reading: "\(folder)/\(file.name)").readPieces(file.byteCount) {
                piece throws(DaemonError) in try archive.write(piece)
            }
            try archive.write(TarArchive.padding(file.byteCount))
        }
        try archive.write(TarArchive.end)
        try archive.sync()
        return Int(try archive.status().st_size)
    }

    private func summary(
        _ file: String,
        _ byteCount: Int,
        _ manifest: BackupManifest,
        _ state: BackupState
    ) -> String {
        let keys = state.hasLedgerKey ? "hash.key and ledger.key" : "hash.key"
        var lines = [
            "wrote '\(file)': \(byteCount) bytes, \(manifest.ledgerSize) ledger entries,"
                + " state of \(manifest.createdAt.rfc3339)",
            "it contains state.db, \(keys), and no vault key; keep it apart from the vault key",
            state.holdLine,
        ]
        if !state.hasLedgerKey {
            lines.append("the credential 'ledger-key', which signs the ledger, is not in it")
        }
        if !manifest.vaultKeyIDs.isEmpty {
            let ids = manifest.vaultKeyIDs.joined(separator: ", ")
            lines.append("a restore needs vault key \(ids)")
        }
        return lines.joined(separator: "\n")
    }
}
