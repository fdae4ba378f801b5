import CLinux
import Engine
import Glibc
import Settings
import Storage
import Systemd

extension DaemonCommand {
    /// Makes the tables of the state in PostgreSQL, and says so.
    static func initState(
        _ options: DaemonOptions,
        _ environment: [String: String]
    ) throws -> String {
        _ = clinux_forbid_core_dumps()
        let configuration = try load(options, environment)
        guard configuration.state.kind == .postgresql else {
            throw DaemonError(
                .configuration,
                "cannot make a state (not_needed): state.kind is \"sqlite\", and the service"
                    + " makes the file at its first start"
            )
        }
        let plan = try plan(configuration, options, environment).plan
        try StateDatabase.create(plan)
        return "made the state in the schema '\(plan.schema)' of the database"
    }

    /// Moves the state from the file into PostgreSQL, or back, and says so.
    static func migrateState(
        from kind: StateConfiguration.Kind,
        _ options: DaemonOptions,
        _ environment: [String: String]
    ) throws -> String {
        _ = clinux_forbid_core_dumps()
        StateDatabase.configureProcess()
        let configuration = try load(options, environment)
        guard configuration.state.kind == .postgresql else {
            throw DaemonError(
                .configuration,
                "cannot move the state (no_server): state.kind is \"sqlite\"; set it to"
                    + " \"postgresql\", also to move the state back"
            )
        }
        let (plan, path) = try plan(configuration, options, environment)
        let migration = StateMigration(path: path, plan: plan)
        switch kind {
        case .sqlite:
            let moved = path + ".moved"
            guard unsafe access(moved, F_OK) != 0 else {
                throw DaemonError(
                    .state,
                    "cannot move the state (copy_left): '\(moved)' is there already; delete it,"
                        + " or move it away"
                )
            }
            let report = try migration.toServer()
            guard unsafe rename(path, moved) == 0 else {
                throw DaemonError(
                    .state,
                    "cannot rename the file of the state (not_renamed): \(report.text) moved to"
                        + " the server; delete '\(path)', or the service does not start"
                )
            }
            return
                "\(report.text) moved to the server. '\(moved)' has the keys of users who will be"
                + " erased: delete it once the service works"
        case .postgresql:
            let report = try migration.toFile()
            return "\(report.text) moved into '\(path)'. Set state.kind = \"sqlite\". The schema"
                + " is called '\(migration.movedSchema)' now and has the keys of users who will be"
                + " erased: drop it once the service works"
        }
    }

    /// How the state at the server is reached, and where that of a file is.
    private static func plan(
        _ configuration: DaemonConfiguration,
        _ options: DaemonOptions,
        _ environment: [String: String]
    ) throws -> (plan: PostgreSQLStatePlan, path: String) {
        let directories = try options.directories(environment, mayBeUnit: true)
        let clock = AnchoredClock()
        let setup = StateSetup(configuration: configuration, directories: directories)
        return (try setup.plan(now: { clock.now() }), setup.path)
    }
}

extension StateMigration.Report {
    fileprivate var text: String { "\(rows) rows, with \(ledgerSize) entries of the ledger," }
}
