import CSQLiteGuard
import GRDB
import GRDBSQLite
import Lifecycle

extension SQLError.Code {
    /// SQLite's extended result code.
    static func sqlite(_ result: Int32) -> Self {
        Self(domain: "SQLite result", value: String(result))
    }
}

extension SQLError {
    /// SQLite's extended result code; 0 when SQLite was not asked.
    var resultCode: Int32 { code.flatMap { Int32($0.value) } ?? 0 }

    /// Statements want more than `CSQLITEGUARD_HEAP_MAX`, or memory is short.
    var isOutOfMemory: Bool { code == .sqlite(SQLITE_NOMEM) }

    /// That bound in words.
    static let heapText =
        "more than a statement may hold in memory (\(Int(CSQLITEGUARD_HEAP_MAX) >> 20) MiB)"

    /// `SQLITE_READONLY_DBMOVED`, whose macro Swift does not import.
    private static let movedCode = SQLITE_READONLY | 4 << 8

    /// `SQLITE_CANTOPEN_SYMLINK`, whose macro Swift does not import either.
    private static let symlinkCode = SQLITE_CANTOPEN | 6 << 8

    /// Classifies a result code (sqlite.org/rescode.html).
    init(resultCode: Int32, store: StoreName) {
        let kind: Kind =
            switch resultCode & 0xff {
            case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: .busy
            case SQLITE_IOERR where Int(resultCode) == Int(CSQLITEGUARD_IOERR_INDEX): .indexLost
            case SQLITE_FULL, SQLITE_IOERR, SQLITE_NOMEM: .storage
            case SQLITE_TOOBIG: .oversized
            case SQLITE_CANTOPEN: resultCode == Self.symlinkCode ? .refused : .unreachable
            case SQLITE_READONLY: resultCode == Self.movedCode ? .moved : .unreachable
            case SQLITE_CONSTRAINT: .constraint
            case SQLITE_INTERRUPT: Task.isCancelled ? .cancelled : .timeout
            case SQLITE_SCHEMA: .schemaChanged
            case SQLITE_PERM: .refused
            default: .unfit
            }
        self.init(
            kind,
            store: store,
            code: .sqlite(resultCode),
            advice: Self.advice(kind, resultCode)
        )
    }

    /// Classifies whatever a connection threw.
    init(_ error: any Error, store: StoreName) {
        switch error {
        case let error as SQLError: self = error
        case let error as DatabaseError:
            self =
                Self.schemaError(error.message ?? "", store: store)
                ?? SQLError(resultCode: error.extendedResultCode.rawValue, store: store)
        case is CancellationError: self.init(.cancelled, store: store)
        default: self.init(.unfit, store: store)
        }
    }

    /// A schema that SQLite does not read, mostly since it calls a function that it may not.
    ///
    /// The result code says that the file is damaged: `malformed database schema (posts) - unsafe
    /// use of f()`. The names are of the schema.
    private static func schemaError(_ message: String, store: StoreName) -> SQLError? {
        let start = "malformed database schema ("
        guard message.hasPrefix(start), let end = message.firstIndex(of: ")") else { return nil }
        let object = message[..<end].dropFirst(start.count).prefix(nameMax)
        let function = message.firstRange(of: "unsafe use of ").map {
            message[$0.upperBound...].prefix(nameMax)
        }
        let advice =
            function.map {
                "the schema of '\(object)' calls \($0), which SQLite allows to no schema"
            }
            ?? "SQLite cannot read the schema of '\(object)'; it is damaged, or calls a function"
            + " that only the application may"
        return SQLError(.unfit, store: store, advice: advice)
    }

    /// Characters of a name.
    private static let nameMax = 64

    /// What the codes mean that a wrong path or wrong permissions lead to.
    private static func advice(_ kind: Kind, _ result: Int32) -> String? {
        if kind == .indexLost { return "another program cut the '-shm' file short" }
        return switch result & 0xff {
        case SQLITE_NOTADB: "the file is no SQLite database, or an encrypted one"
        case SQLITE_CANTOPEN: "the service may not open the file, or write into its directory"
        case SQLITE_READONLY: "the service may not write the file"
        case SQLITE_CORRUPT: "the database is damaged"
        case SQLITE_FULL: "the disk is full"
        case SQLITE_NOMEM:
            "a statement needs \(heapText), or the service has none left; shorten long values,"
                + " or give the service more"
        default: nil
        }
    }
}
