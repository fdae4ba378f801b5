package import Engine
package import Lifecycle

/// Which database a SQLite store purges, and how.
package struct SQLiteStorePlan: Sendable {
    package let name: StoreName
    /// Absolute, without symbolic links.
    package let path: String
    package let rules: [TableRule]
    package var keys: [KeyRule] = []
    package var residualCopiesKept: Duration?
    package var neighbours = SchemaClaims()
    package var notes: (any NoteStore)?
    package var triggers = TriggerPolicy.checked
    package var vacuum = VacuumPolicy.off
}

extension SQLiteStorePlan: SQLConfiguration {
    var location: String { path }
}

/// How far the application's triggers and views are trusted.
///
/// They run by default: without them, a search index that they keep would still hold the erased
/// text. They reach only this database, which whoever wrote them can write anyway.
package enum TriggerPolicy: String, Hashable, Sendable, CaseIterable {
    /// No trigger runs, no view can be read.
    case off
    /// They run with `trusted_schema` off: harmless functions only. Before SQLite 3.41 or so that
    /// also forbids FTS and R*Tree tables, which the check reports. JSON functions are harmless in
    /// every version (docs/decisions/0052-json-in-schemas.md).
    case checked
    /// They run with `trusted_schema` on, for applications that keep an FTS index by triggers.
    case trusted
}

/// What happens to the pages that a purge leaves free.
///
/// Their content is overwritten in either case (`secure_delete`). A full VACUUM would stop every
/// writer of the application while it writes the whole file.
package enum VacuumPolicy: String, Hashable, Sendable, CaseIterable {
    /// They stay in the file and are used again.
    case off
    /// They are given back to the file system, some at a time, in a database whose `auto_vacuum` is
    /// `INCREMENTAL` (sqlite.org/pragma.html#pragma_incremental_vacuum).
    case incremental
}
