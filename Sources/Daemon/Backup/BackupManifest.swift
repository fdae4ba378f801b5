import Encoding
import Ledger
import Lifecycle
import Storage
import Vault

/// `manifest.json`, the first member of a backup: what the others must be.
struct BackupManifest {
    static let name = "manifest.json"
    private static let format: Int64 = 1

    struct File: Hashable {
        let name: String
        let byteCount: Int
        /// 32 bytes.
        let sha256: [UInt8]
    }

    let version: String
    let createdAt: WallTime
    let files: [File]
    let ledgerSize: Int
    let ledgerRoot: [UInt8]
    /// The vault keys that open what is sealed in it; they are not in it.
    let vaultKeyIDs: [String]

    var text: String {
        let json: JSONValue = [
            "format": .integer(Self.format),
            "program": .string("expunged \(version)"),
            "created_at": .string(createdAt.rfc3339),
            "files": .array(
                files.map { file in
                    [
                        "name": .string(file.name), "bytes": .integer(Int64(file.byteCount)),
                        "sha256": .string(Hexadecimal.text(file.sha256)),
                    ]
                }
            ),
            "ledger_entries": .integer(Int64(ledgerSize)),
            "ledger_root": .string(Base64.text(ledgerRoot)),
            "contains_vault_key": false,
            "vault_key_ids": .array(vaultKeyIDs.map { .string($0) }),
        ]
        return json.indentedText
    }

    init(version: String, createdAt: WallTime, files: [File], state: BackupState) {
        self.version = version
        self.createdAt = createdAt
        self.files = files
        ledgerSize = state.copy.audit.frontier.size
        ledgerRoot = state.copy.audit.frontier.root()
        vaultKeyIDs = state.copy.facts.vaultKeyIDs
    }

    /// Reads the text; `nil` when it is no manifest of this format.
    init?(_ bytes: [UInt8]) {
        guard let json = JSONValue(bytes), json["format"] == .integer(Self.format),
            let program = json["program"]?.string,
            let createdAt = json["created_at"]?.string.flatMap({ WallTime(rfc3339: $0) }),
            let files = json["files"]?.array?.map({ File($0) }),
            case .integer(let size)? = json["ledger_entries"],
            let root = json["ledger_root"]?.string.flatMap({ Base64.decode($0.utf8) }),
            let ids = json["vault_key_ids"]?.array
        else { return nil }
        version = program
        self.createdAt = createdAt
        self.files = files.compactMap { $0 }
        guard self.files.count == files.count else { return nil }
        ledgerSize = Int(size)
        ledgerRoot = root
        vaultKeyIDs = ids.compactMap(\.string)
    }
}

extension BackupManifest.File {
    fileprivate init?(_ json: JSONValue) {
        guard let name = json["name"]?.string, case .integer(let byteCount)? = json["bytes"],
            let sha256 = json["sha256"]?.string.flatMap({ Hexadecimal.decode($0.utf8) })
        else { return nil }
        self.init(name: name, byteCount: Int(byteCount), sha256: sha256)
    }
}

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
        return "holds in force then: \(holds.users) on users, \(holds.stores) on stores and rows,"
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
    var fingerprintText: String {
        fingerprint.map { String($0, radix: 16) }.joined(separator: ".")
    }
}
