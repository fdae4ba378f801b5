package import Engine

extension SpoolFailure {
    init(_ kind: StorageError.Kind) {
        switch kind {
        case .diskFull: self = .diskFull
        case .corrupt: self = .corrupt
        case .otherSchema: self = .newerVersion
        case .busy: self = .locked
        case .inUse, .unopenable: self = .unopenable
        case .malformed, .commitFailed, .overloaded, .closed, .unreachable, .lostPartition,
            .guardClosed, .credentialUnseen, .constraint, .sqlite:
            self = .ioError
        }
    }
}

/// How the spool is right now.
package struct SpoolHealth: Hashable, Sendable {
    /// Why nothing is imported and nothing mirrored.
    package var quarantine: SpoolFailure?
    /// Why states cannot be written and secrets not be scrubbed.
    package var writeFailure: SpoolFailure?
    /// An application switched it to WAL; nothing is imported until it is switched back.
    package var isWAL = false
    package var foreignCount = 0
    /// Rows that are too large.
    package var unreadableCount = 0

    package init() {}
}

/// Something about the spool that an operator should know; reported once per change.
package enum SpoolHealthChange: Hashable, Sendable {
    /// Nothing is imported and nothing mirrored until ``back``.
    case quarantined(SpoolFailure)
    case back
    /// Rows are imported, but states cannot be written and secrets not be scrubbed.
    case unwritable(SpoolFailure)
    case writable
    /// Another file, or an older content, is in its place; `isSameSpool` when it has the same id.
    case replaced(isSameSpool: Bool)
    /// Rows came back under known ids with another content; they were imported as new ones.
    case recreatedRows(count: Int)
    /// Objects that are not ours: triggers, views, tables, indexes. Triggers and views do not run.
    case foreignObjects(count: Int)
    /// Rows too large to be read or written; they were left alone.
    case unreadableRows(count: Int)
    /// It is switched back as soon as no process has it open, or quarantined as `largeWAL`.
    case enteredWAL
    case leftWAL
}
