import Engine
import HTTP
import Lifecycle
package import Settings

/// A SQLite database on this machine.
package struct SQLiteStore: TableStore, DrillCopying {
    package static let name = "sqlite"
    package static let traits = StoreTraits(
        listsUsers: true,
        supportsDrills: true,
        residualCopies: "SQLite's write-ahead log",
        uniqueKey: "path"
    )

    package static let settings: [Setting] =
        [
            Setting(
                .target,
                "path",
                .text(.path),
                .required(example: .text("/srv/app/app.db")),
                """
                Database file. The service must be able to write it and its directory, in the file \
                system and in the unit (ReadWritePaths=).
                """
            ).atRestart(),
            Setting(
                .target,
                "triggers",
                .choice(TriggerPolicy.allCases.map(\.rawValue)),
                .defaultsTo(.text(TriggerPolicy.checked.rawValue)),
                """
                Which of the application's triggers run: none, those that SQLite considers \
                harmless, or all. With "trusted", whoever can change the schema has the rights of \
                the service.
                """
            ).atRestart(),
            Setting(
                .target,
                "vacuum",
                .choice(VacuumPolicy.allCases.map(\.rawValue)),
                .defaultsTo(.text(VacuumPolicy.off.rawValue)),
                """
                "incremental" returns free pages to the file system, a few at a time, and needs \
                auto_vacuum = INCREMENTAL. SQLite overwrites them with zeros in either case.
                """
            ).atRestart().outsidePlans(),
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

    package func open(_ environment: StoreEnvironment) -> SQLiteTarget {
        var plan = SQLiteTargetPlan(
            name: environment.name,
            path: path,
            rules: claims.rules,
            triggers: triggers,
            vacuum: vacuum
        )
        plan.keys = claims.keys
        plan.residualCopiesKept = environment.target.residualCopiesKept
        plan.neighbours = environment.neighbours
        return SQLiteTarget(plan: plan, hasher: environment.hasher, clock: environment.clock)
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
