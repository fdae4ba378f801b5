import Encoding
import Engine
package import Lifecycle

/// Why the state database or the spool could not do what was asked.
package struct StorageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The closed set of causes.
    package enum Kind: String, Sendable, CaseIterable {
        /// Another process holds the lock of the directory.
        case inUse = "in_use"
        /// A file or directory cannot be opened.
        case unopenable
        /// The state has the schema of another version of this program.
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
        case closed
        /// A lock was in the way for longer than we wait; nothing was committed.
        case busy
        /// The server cannot be reached or takes no writes: nothing was committed, later calls may
        /// succeed.
        case unreachable
        /// Another host has the partition: nothing was committed, and the work is that host's.
        case lostPartition = "lost_partition"
        /// The commit would let more purges begin than the mass-deletion guard allows: nothing was
        /// committed.
        case guardClosed = "guard_closed"
        /// Deletions would go on to purging that do not know the latest credentials of their users:
        /// nothing was committed.
        case credentialUnseen = "credential_unseen"
        /// A rule of the schema refused the change.
        case constraint
        /// Any other error of the database.
        case sqlite
    }

    package let kind: Kind
    /// The verb and the object, such as `commit the batch`.
    package let action: String
    /// A file name or table; never personal.
    package let place: String
    package let cause: String?
    /// Of a `lostPartition`: the claims that do not hold any more.
    package var lostClaims: [PartitionClaim] = []
    /// Of a `guardClosed`: purges that all hosts have begun in the last hour.
    package var purgesInLastHour: Int?
    /// Of a `credentialUnseen`: those deletions.
    package var unseenBy: [RequestID] = []

    package init(_ kind: Kind, _ action: String, at place: String, cause: String? = nil) {
        (self.kind, self.action, self.place, self.cause) = (kind, action, place, cause)
    }

    /// Of a system call (errno(3)).
    init(_ kind: Kind, _ action: String, at place: String, errno number: Int32) {
        self.init(kind, action, at: place, cause: "\(ErrorNumber(number))")
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
    init(_ error: any Error, _ action: String, at place: String) {
        switch error {
        case let error as StorageError:
            self = error
        case let error as any DatabaseFailure:
            self.init(error.kind, action, at: place, cause: error.reason)
        default:
            self.init(.sqlite, action, at: place, cause: "\(type(of: error))")
        }
    }
}

extension StorageError {
    /// What an engine hears of it; `nil` for a failure.
    var refusal: CommitRefusal? {
        switch kind {
        case .lostPartition: CommitRefusal(lost: lostClaims)
        case .guardClosed: CommitRefusal(purgesInLastHour: purgesInLastHour)
        case .credentialUnseen: CommitRefusal(unseenBy: unseenBy)
        default: nil
        }
    }
}

/// An error of a database, as the adapter of that database knows it.
protocol DatabaseFailure: Error {
    var kind: StorageError.Kind { get }
    /// Codes and names of the schema, never values.
    var reason: String { get }
}

extension StorageError.Kind {
    /// Whether nothing was committed, and a later try may succeed.
    var provesNoCommit: Bool {
        switch self {
        case .diskFull, .busy, .unreachable: true
        case .inUse, .unopenable, .otherSchema, .corrupt, .malformed, .commitFailed, .overloaded,
            .closed, .lostPartition, .guardClosed, .credentialUnseen, .constraint, .sqlite:
            false
        }
    }

    /// Whether the connection can no longer be trusted.
    var isFatal: Bool { self == .commitFailed || self == .corrupt }
}
