/// Why the spool cannot be used, or not be written.
package enum SpoolFailure: String, Hashable, Sendable, CaseIterable {
    /// There is no file.
    case missing
    /// The file, or a file beside it, wants something of us that is never done: a journal that
    /// names another file, a symbolic link, something that is no regular file.
    case refused
    /// An application has switched it to WAL and keeps it open.
    case inWAL = "in_wal"
    /// An application switched it to WAL and left more there than is copied back
    /// (``SpoolLimits/walByteCountMax``).
    case largeWAL = "large_wal"
    /// Not a database, or a damaged one.
    case corrupt
    /// The tables are not those of the public schema.
    case wrongSchema = "wrong_schema"
    /// `PRAGMA user_version` says that a newer version made it.
    case newerVersion = "newer_version"
    /// It, its directory or its journal cannot be opened.
    case unopenable
    /// It can be read, not written.
    case readOnly = "read_only"
    /// No space is left.
    case diskFull = "disk_full"
    /// The device failed.
    case ioError = "io_error"
    /// Somebody holds its lock for longer than ``SpoolLimits/lockedAfter``.
    case locked
    /// An access took longer than any honest file needs.
    case slow
}

extension SpoolFailure {
    /// Why the file could not be made.
    init(_ kind: StorageError.Kind) {
        switch kind {
        case .diskFull: self = .diskFull
        case .corrupt: self = .corrupt
        case .otherSchema: self = .newerVersion
        case .busy: self = .locked
        case .inUse, .unopenable: self = .unopenable
        case .malformed, .commitFailed, .overloaded, .closed, .constraint, .sqlite: self = .ioError
        }
    }
}

/// How the spool is right now.
package struct SpoolHealth: Hashable, Sendable {
    /// Why nothing is imported and nothing mirrored, if so.
    package var quarantine: SpoolFailure?
    /// Why states cannot be written and secrets not be scrubbed, if so.
    package var writeFailure: SpoolFailure?
    /// Whether an application switched it to WAL; nothing is imported until it is switched back.
    package var isWAL = false
    /// Objects that are not ours.
    package var foreignCount = 0
    /// Rows that were found too large since everything was read last.
    package var unreadableCount = 0

    /// A spool that nothing is wrong with.
    package init() {}
}

/// Something about the spool that an operator should know; reported once per change.
package enum SpoolHealthChange: Hashable, Sendable {
    /// Nothing is imported and nothing mirrored until ``back``.
    case quarantined(SpoolFailure)
    /// It is used again.
    case back
    /// Rows are imported, but states cannot be written and secrets not be scrubbed.
    case unwritable(SpoolFailure)
    /// It is written again.
    case writable
    /// Another file, or an older content, is in its place; `isSameSpool` says whether it has the
    /// same id.
    case replaced(isSameSpool: Bool)
    /// Rows came back under known ids with another content; they were imported as new ones.
    case recreatedRows(count: Int)
    /// Objects that are not ours: triggers, views, tables, indexes. Triggers and views do not run.
    case foreignObjects(count: Int)
    /// Rows too large to be read or written; they were left alone.
    case unreadableRows(count: Int)
    /// An application switched it to WAL; it is switched back as soon as no process has it open,
    /// unless that quarantines it as `largeWAL`.
    case enteredWAL
    /// It has its rollback journal again.
    case leftWAL
}
