package import Lifecycle

/// What one SQLite target is told to do: which database, which tables, in which way.
package struct SQLiteTargetPlan: Sendable {
    package let name: TargetName
    /// Absolute, without symbolic links.
    package let path: String
    package let rules: [TableRule]
    /// Whether the application's own triggers run when we change its rows.
    package let triggers: TriggerPolicy
    /// Whether the file shrinks after a purge.
    package let vacuum: VacuumPolicy

    package init(
        name: TargetName,
        path: String,
        rules: [TableRule],
        triggers: TriggerPolicy = .checked,
        vacuum: VacuumPolicy = .off
    ) {
        self.vacuum = vacuum
        self.name = name
        self.path = path
        self.rules = rules
        self.triggers = triggers
    }
}

/// How far the application's triggers and views are trusted.
///
/// They run by default: a counter or a search index kept by triggers would go wrong silently
/// without them, and the index would keep the erased text. They reach nothing but this one
/// database, which whoever wrote them can write anyway.
package enum TriggerPolicy: String, Hashable, Sendable, CaseIterable {
    /// No trigger runs, no view can be read.
    case off
    /// They run with `trusted_schema` off: SQLite's harmless functions only. Before 3.41 or so that
    /// also forbids FTS and R*Tree tables inside triggers, which is then a problem that
    /// ``SQLiteTarget/diagnose()`` names.
    case checked
    /// They run with `trusted_schema` on, for applications that keep an FTS index by triggers.
    case trusted
}

/// What happens to the pages that a purge leaves free.
///
/// Their content is overwritten in either case (`secure_delete`). A full VACUUM is no choice: it
/// writes the whole file anew, in one transaction that stops every writer of the application.
package enum VacuumPolicy: String, Hashable, Sendable, CaseIterable {
    /// They stay in the file and are used again.
    case off
    /// They are given back to the file system, some at a time, in a database whose `auto_vacuum` is
    /// `INCREMENTAL` (sqlite.org/pragma.html#pragma_incremental_vacuum).
    case incremental
}

/// What happens to one user's rows in one table.
package struct TableRule: Hashable, Sendable {
    package let table: String
    /// The column that holds the user id.
    package let column: String
    package let idType: IDType
    package let action: TableAction
    /// Why rows are kept or only anonymized; shown on the receipt.
    package let reason: String?
    /// Without it the time fence cannot hold in this table, and the receipt says so.
    package let creation: CreationColumn?

    package init(
        table: String,
        column: String,
        idType: IDType = .text,
        action: TableAction,
        reason: String? = nil,
        creation: CreationColumn? = nil
    ) {
        self.table = table
        self.column = column
        self.idType = idType
        self.action = action
        self.reason = reason
        self.creation = creation
    }
}

/// How the application stores its user ids.
package enum IDType: String, Hashable, Sendable, CaseIterable {
    /// The id itself, compared byte by byte.
    case text
    /// The id must be a canonical decimal (`42`, `-7`; not `042` or `+42`) that fits 64 bits.
    case integer
    /// The id must be lower-case hexadecimal, or a lower-case UUID with its four dashes.
    case blob
}

/// What is done to the rows of a table.
package enum TableAction: Hashable, Sendable {
    case delete
    case anonymize([ColumnMask])
    /// Nothing; the rows are counted for the receipt.
    case keep
}

/// How one column is made unrecognisable.
package struct ColumnMask: Hashable, Sendable {
    package let column: String
    package let strategy: MaskStrategy

    package init(column: String, strategy: MaskStrategy) {
        self.column = column
        self.strategy = strategy
    }
}

/// The ways to make a value unrecognisable.
///
/// Each can be told from the outside, so that it can be verified and a second pass changes nothing.
package enum MaskStrategy: Hashable, Sendable {
    case null
    case text(String)
    case integer(Int64)
    /// `erased:` and 32 hexadecimal digits of a keyed hash; equal values of one column stay equal.
    case hash
    /// `erased:` and 32 random hexadecimal digits.
    case random
    /// The first so many characters.
    case truncate(length: Int)
}

/// The column that says when a row was made.
package struct CreationColumn: Hashable, Sendable {
    /// How the time is stored.
    package enum Unit: String, Hashable, Sendable, CaseIterable {
        case unixSeconds = "unix_s"
        case unixMilliseconds = "unix_ms"
        case iso8601
    }

    package let column: String
    package let unit: Unit

    package init(column: String, unit: Unit) {
        self.column = column
        self.unit = unit
    }
}
