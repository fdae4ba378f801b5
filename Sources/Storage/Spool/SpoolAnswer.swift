import CSQLiteGuard
import Engine
import GRDB
import Glibc

/// How an access to the spool ended.
enum SpoolAnswer<Value: Sendable>: Sendable {
    case done(Value)
    /// Another process has the lock: again soon.
    case busy
    case closed
    /// Another file is at its path, or none.
    case moved
    case failure(SpoolFailure)
}

extension SpoolAnswer {
    func map<Other>(_ body: (Value) -> Other) -> SpoolAnswer<Other> {
        switch self {
        case .done(let value): .done(body(value))
        case .busy: .busy
        case .closed: .closed
        case .moved: .moved
        case .failure(let failure): .failure(failure)
        }
    }

    /// By sqlite.org/rescode.html; `refusal` is what the guard refused meanwhile.
    init(_ error: any Error, path: String, refusal: SpoolFailure?) {
        if let refusal {
            self = .failure(refusal)
            return
        }
        switch error {
        case let failure as SpoolFailure: self = .failure(failure)
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
