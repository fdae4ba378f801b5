import Encoding
import Ledger
import Lifecycle
import Storage
import Vault

/// A copied state with its keys, which were compared with it.
struct BackupState {
    static let stateName = "state.db"
    /// What a backup may have beside its manifest.
    static let names = [stateName, FileHashKey.fileName, LedgerKey.fileName]

    let copy: StateCopy
    /// Whether `ledger.key` of the folder signs this ledger; else a credential does.
    let hasLedgerKey: Bool

    var names: [String] {
        hasLedgerKey ? Self.names : Self.names.filter { $0 != LedgerKey.fileName }
    }

    var holdLine: String {
        let holds = copy.holds
        return "holds in force then: \(holds.users) on users, \(holds.targets) on targets and rows,"
            + " \(holds.requests) on requests"
    }

    /// Checks `state.db`, `hash.key` and `ledger.key` of a folder.
    ///
    /// - Throws: ``DaemonError`` that names the part that does not fit, or
    ///   ``Storage/StorageError``.
    init(in folder: String) throws {
        let copy = try StateCopy(reading: "\(folder)/\(Self.stateName)")
        self.copy = copy
        guard let hashKey = try Self.key("\(folder)/\(FileHashKey.fileName)"),
            try HMACHasher(key: hashKey).fingerprintText == copy.facts.hashKey
        else {
            throw Self.unfit(
                "\(FileHashKey.fileName) is not the key that state.db was written with"
            )
        }
        hasLedgerKey =
            try Self.key("\(folder)/\(LedgerKey.fileName)").map { seed in
                let text = seed.withBytes { Secret(Base64.text($0)) }
                return try LedgerKey(text: text).publicKey == copy.audit.key.publicKey
            } ?? false
        guard copy.audit.findingCount == 0 else {
            let first = copy.audit.findings.first
            throw Self.unfit(
                "its ledger does not agree with its signed checkpoints"
                    + " (\(first?.kind.rawValue ?? "") at entry \(first?.position ?? 0));"
                    + " see expungectl ledger verify"
            )
        }
    }

    private static func unfit(_ cause: String) -> DaemonError {
        DaemonError(.state, "cannot use this state: \(cause)")
    }

    private static func key(_ path: String) throws(DaemonError) -> Secret? {
        guard BackupFile.exists(path) else { return nil }
        return Secret(try BackupFile(reading: path).read(FileHashKey.byteCount + 1))
    }
}

extension HMACHasher {
    /// The form that state.db keeps.
    var fingerprintText: String {
        fingerprint.map { String($0, radix: 16) }.joined(separator: ".")
    }
}
