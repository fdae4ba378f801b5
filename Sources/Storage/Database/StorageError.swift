import GRDB
import Glibc

/// Why the state database or the spool could not do what was asked.
package struct StorageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The closed set of causes.
    package enum Kind: String, Sendable, CaseIterable {
        /// Another process holds the lock of the directory.
        case inUse = "in_use"
        /// A file or directory cannot be opened.
        case unopenable
        /// The file has the schema of another version of this program.
        case otherSchema = "other_schema"
        /// SQLite found the file damaged.
        case corrupt
        /// A row says what this version never wrote; the others are not affected.
        case malformed
        /// No space is left: nothing was committed, later calls may succeed.
        case diskFull = "disk_full"
        /// A commit failed, and may have happened or not: exit, reopen, read the truth.
        case commitFailed = "commit_failed"
        /// Too many mutations wait already; nothing was done.
        case overloaded
        /// The database is closed.
        case closed
        /// A reader was in the way for longer than the busy timeout.
        case busy
        /// A rule of the schema refused the change.
        case constraint
        /// Any other error of SQLite.
        case sqlite
    }

    package let kind: Kind
    /// The verb and the object, such as `commit the batch`.
    package let action: String
    /// A file name or table; never personal.
    package let place: String
    package let cause: String?

    package init(_ kind: Kind, _ action: String, at place: String, cause: String? = nil) {
        self.kind = kind
        self.action = action
        self.place = place
        self.cause = cause
    }

    /// Of a system call (errno(3)); glibc's strerror(3) is safe in any thread since 2.32.
    init(_ kind: Kind, _ action: String, at place: String, errno number: Int32) {
        let text = unsafe strerror(number).map { unsafe String(cString: $0).lowercased() }
        self.init(kind, action, at: place, cause: text ?? "errno \(number)")
    }

    /// A row has a value that this program never writes.
    static func malformed(_ what: String) -> StorageError {
        StorageError(.malformed, "read a row", at: "state.db", cause: "unknown value for \(what)")
    }

    package var description: String {
        "cannot \(action) at '\(place)' (\(kind.rawValue))" + (cause.map { ": \($0)" } ?? "")
    }
}

extension StorageError {
    /// SQLite's own message holds names of the schema, never values.
    init(_ error: any Error, _ action: String, at place: String) {
        switch error {
        case let error as StorageError:
            self = error
        case let error as DatabaseError:
            self.init(
                Kind(error.resultCode),
                action,
                at: place,
                cause:
                    "SQLite \(error.extendedResultCode.rawValue): \(error.message ?? "no message")"
            )
        default:
            self.init(.sqlite, action, at: place, cause: "\(type(of: error))")
        }
    }
}

extension StorageError.Kind {
    init(_ code: ResultCode) {
        switch code {
        case .SQLITE_FULL: self = .diskFull
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: self = .corrupt
        case .SQLITE_BUSY, .SQLITE_LOCKED: self = .busy
        case .SQLITE_CONSTRAINT: self = .constraint
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_READONLY: self = .unopenable
        case .SQLITE_IOERR: self = .commitFailed
        default: self = .sqlite
        }
    }

    /// Whether the connection can no longer be trusted.
    var isFatal: Bool {
        switch self {
        case .commitFailed, .corrupt: true
        case .inUse, .unopenable, .otherSchema, .malformed, .diskFull, .overloaded, .closed, .busy,
            .constraint, .sqlite:
            false
        }
    }
}
