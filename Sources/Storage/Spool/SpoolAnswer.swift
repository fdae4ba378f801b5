import CSQLiteGuard
import GRDB
import Glibc

/// How an access to the spool ended.
enum SpoolAnswer<Value: Sendable>: Sendable {
    case done(Value)
    /// Somebody else has the lock: again soon.
    case busy
    /// The spool is not open.
    case closed
    /// Another file is at its path, or none.
    case moved
    case failure(SpoolFailure)
}

/// Ends an access from inside its transaction.
enum SpoolStop: Error {
    case moved
    case failure(SpoolFailure)
}

extension SpoolAnswer {
    /// What an error of SQLite means for the spool (sqlite.org/rescode.html); `refusal` is what the
    /// guard refused meanwhile.
    init(_ error: any Error, path: String, refusal: SpoolFailure?) {
        if let refusal {
            self = .failure(refusal)
            return
        }
        switch error {
        case SpoolStop.moved: self = .moved
        case SpoolStop.failure(let failure): self = .failure(failure)
        case let error as DatabaseError: self.init(error, path: path)
        default: self = .failure(.corrupt)
        }
    }

    private init(_ error: DatabaseError, path: String) {
        if error.extendedResultCode == .SQLITE_READONLY_DBMOVED {
            self = .moved
            return
        }
        switch error.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL: self = .busy
        case .SQLITE_READONLY: self = .failure(.readOnly)
        case .SQLITE_CANTOPEN: self = .failure(Self.isMissing(path) ? .missing : .unopenable)
        case .SQLITE_PERM, .SQLITE_AUTH: self = .failure(.unopenable)
        case .SQLITE_IOERR: self = .failure(.ioError)
        case .SQLITE_FULL: self = .failure(.diskFull)
        case .SQLITE_INTERRUPT: self = .failure(.slow)
        case .SQLITE_ERROR, .SQLITE_SCHEMA, .SQLITE_CONSTRAINT: self = .failure(.wrongSchema)
        default: self = .failure(.corrupt)
        }
    }

    private static func isMissing(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) != 0 && errno == ENOENT
    }
}
