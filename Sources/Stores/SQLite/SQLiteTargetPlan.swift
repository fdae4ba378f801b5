package import Lifecycle

/// What one SQLite target is told to do: which database, which tables, in which way.
package struct SQLiteTargetPlan: Sendable {
    package let name: TargetName
    /// Absolute, without symbolic links.
    package let path: String
    package let rules: [TableRule]
    /// What its rows hold for other targets.
    package var keys: [KeyRule] = []
    /// How long its files hold what was deleted; `nil` when nobody said.
    package var residualCopiesKept: Duration?
    /// What other targets do in the same store; the coverage check counts it.
    package var neighbours = SchemaClaims()
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

extension SQLiteTargetPlan {
    /// What is dealt with in the store, by whichever target.
    var claims: SchemaClaims { SchemaClaims(rules: rules, keys: keys).joined(with: neighbours) }

    /// What plans are made of.
    func workRules(holds: [RowFilter] = []) -> WorkRules {
        WorkRules(tables: rules, keys: keys, holds: holds)
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
