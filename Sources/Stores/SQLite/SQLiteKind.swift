import Engine
import HTTP
import Lifecycle
package import Settings

/// A SQLite database on this machine.
package struct SQLiteKind: TableKind, DrillCopying {
    package static let name = "sqlite"
    package static let traits = StoreTraits(
        residualCopies: "SQLite's write-ahead log",
        residualPhrases: [.sqliteLog],
        uniqueKey: "path"
    )

    package static let settings: [Setting] =
        [
            Setting(
                .store,
                "path",
                .text(.path),
                .required(example: .text("/srv/app/app.db")),
                "Database file (docs/stores/sqlite.md)."
            ),
            Setting(
                .store,
                "triggers",
                .choice(TriggerPolicy.allCases.map(\.rawValue)),
                .defaultsTo(.text(TriggerPolicy.checked.rawValue)),
                """
                Which triggers of the application run: none, those that SQLite considers harmless, \
                or all. With "trusted", whoever can change the schema has the rights of the \
                service.
                """
            ),
            Setting(
                .store,
                "vacuum",
                .choice(VacuumPolicy.allCases.map(\.rawValue)),
                .defaultsTo(.text(VacuumPolicy.off.rawValue)),
                """
                "incremental" returns free pages to the file system, and needs auto_vacuum = \
                INCREMENTAL.
                """
            ).outsidePlans(),
        ] + SQLSettings.all

    /// Absolute.
    package private(set) var path: String
    package let triggers: TriggerPolicy
    package let vacuum: VacuumPolicy
    package let claims: SchemaClaims

    package init(_ section: inout SettingsSection, _ problems: inout SectionProblems) {
        path = section.requiredText("path")
        triggers = section.requiredChoice("triggers")
        vacuum = section.requiredChoice("vacuum")
        claims = SchemaClaims(&section, &problems)
    }

    package var naming: TableNaming { TableNaming(ignoresCase: true, schemas: []) }

    package func sharesDatabase(with other: any StoreKind) -> Bool {
        (other as? Self)?.path == path
    }

    package func open(_ environment: StoreEnvironment) -> SQLiteStore {
        var plan = SQLiteStorePlan(
            name: environment.name,
            path: path,
            rules: claims.rules,
            triggers: triggers,
            vacuum: vacuum
        )
        plan.keys = claims.keys
        plan.residualCopiesKept = environment.store.residualCopiesKept
        (plan.neighbours, plan.notes) = (environment.neighbours, environment.notes)
        return SQLiteStore(plan: plan, hasher: environment.hasher, clock: environment.clock)
    }

    package func copy(at place: String) throws(NoStoreCopy) -> Self {
        var copy = self
        copy.path = try TextRule.path.check(place)
        return copy
    }

    /// A file may have several names.
    package func overlaps(_ other: any StoreKind, _ environment: StoreEnvironment) -> Bool {
        guard let other = other as? Self else { return false }
        return path == other.path || FilePlace(path).isSame(as: other.path)
    }
}

extension ResidualPhrase {
    static let sqliteLog = ResidualPhrase(
        "sqlite_log",
        "deleted content in the write-ahead log and behind it, until a checkpoint and until the log"
            + " is written over"
    )
}
