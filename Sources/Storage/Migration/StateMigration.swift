import GRDB
import Glibc
import Lifecycle

/// Moves a whole state between a file and a server, once and offline.
///
/// All rows go in one transaction and are read again there. Only what names the host differs:
/// notes, checkpoints and spools of a file have no host in their names.
package struct StateMigration: Sendable {
    /// What was moved.
    package struct Report: Hashable, Sendable {
        package var rows = 0
        /// Leaves of the ledger.
        package var ledgerSize = 0
    }

    private let path: String
    private let plan: PostgreSQLStatePlan
    private var place: String { "postgresql schema \(plan.schema)" }

    /// What the schema is called once its state is in a file.
    package var movedSchema: String { plan.schema + "_moved" }
    private var files: [String] { ["", "-wal", "-shm"].map { path + $0 } }

    /// `path` is that of `state.db`; the plan names this host.
    package init(path: String, plan: PostgreSQLStatePlan) { (self.path, self.plan) = (path, plan) }

    /// Copies the file into an empty state at the server.
    ///
    /// - Throws: ``StorageError``: `inUse` while a service works on either, `unopenable` without a
    ///   file, where the server's state is not empty, or where it is not what was copied.
    package func toServer() throws(StorageError) -> Report {
        do {
            // Opening would make an empty one.
            guard unsafe access(path, F_OK) == 0 else { throw refusal("there is no such file") }
            return try onServer { server in
                try requireEmpty(server)
                let file = try SQLiteState(path: path)
                defer { close(file) }
                return try file.withWriter { source in
                    let tables = try MigratedTable.all(source)
                    for table in tables { try trigger("DISABLE", table, server) }
                    for table in tables.reversed() { try server.run("DELETE FROM \(table.name)") }
                    let names = HostNames(host: plan.host, isToServer: true)
                    let report = try copy(tables, from: source, to: server, names)
                    try wakeAll(source, server)
                    for table in tables { try continueNumbers(of: table, server) }
                    for table in tables { try trigger("ENABLE", table, server) }
                    return report
                }
            }
        } catch {
            throw StorageError(error, "move the state", at: path)
        }
    }

    /// Copies the state at the server into a new file, of the owner of its directory, and renames
    /// the schema: another host must not go on with it.
    ///
    /// - Throws: ``StorageError``: `inUse` while a service works on either, `unopenable` where the
    ///   file has a state, or hosts left work that only a running service ends.
    package func toFile() throws(StorageError) -> Report {
        var isMade = false
        do {
            guard unsafe access(path, F_OK) != 0 else { throw refusal("the file is there already") }
            return try onServer { server in
                let isIdle =
                    try !server.has("SELECT 1 FROM wakes")
                    && !server.has("SELECT 1 FROM operations WHERE answer IS NULL")
                guard isIdle else {
                    throw refusal("work is left; start the service once, and stop it again")
                }
                isMade = true
                let file = try SQLiteState(path: path)
                defer { close(file) }
                let report = try file.withWriter { state in
                    let tables = try MigratedTable.all(state)
                    try state.beginBatch()
                    let triggers = try state.all(
                        "SELECT name FROM sqlite_schema WHERE type = 'trigger'"
                    ) { $0.text() }
                    for name in triggers { try state.run("DROP TRIGGER \(name)") }
                    for table in tables.reversed() { try state.run("DELETE FROM \(table.name)") }
                    let names = HostNames(host: plan.host, isToServer: false)
                    let report = try copy(tables, from: server, to: state, names)
                    try StateSchema.createTriggers(state)
                    try state.commitBatch()
                    return report
                }
                try own()
                try server.run("ALTER SCHEMA \(plan.schema) RENAME TO \(movedSchema)")
                return report
            }
        } catch {
            // What is left of it would be taken for a state.
            if isMade { for file in files { _ = unsafe unlink(file) } }
            throw StorageError(error, "move the state", at: path)
        }
    }

    // MARK: Rows

    private func copy(
        _ tables: [MigratedTable],
        from source: any StateConnection,
        to destination: any StateConnection,
        _ names: HostNames
    ) throws -> Report {
        var report = Report()
        for table in tables {
            var sent = RowSum()
            try source.step(table.selection, []) { values in
                guard let row = names.renamed(table.row(values), of: table) else { return true }
                sent.add(row)
                try destination.send(table.insertion, row)
                return true
            }
            var found = RowSum()
            try destination.step(table.selection, []) { values in
                found.add(table.row(values))
                return true
            }
            guard sent == found else {
                throw refusal("table \(table.name) is not what was copied; nothing was changed")
            }
            report.rows += found.count
        }
        report.ledgerSize = try destination.int(
            "SELECT first + count FROM ledger ORDER BY first DESC LIMIT 1"
        )
        return report
    }

    // MARK: The server

    private func onServer<T>(_ body: (PostgreSQLConnection) throws -> T) throws -> T {
        let server = PostgreSQLConnection(plan)
        try server.connect()
        defer { server.disconnect() }
        try StateSchema.check(server, place)
        try server.begin("BEGIN")
        do {
            try server.run("LOCK TABLE partitions, hosts IN ACCESS EXCLUSIVE MODE")
            let live = try server.all(
                "SELECT name FROM hosts WHERE live_until > \(PartitionTable.now) ORDER BY name"
            ) { $0.text() }
            guard live.isEmpty else {
                let cause = "stop the service on \(live.joined(separator: ", "))"
                throw StorageError(.inUse, "move the state", at: place, cause: cause)
            }
            let value = try body(server)
            _ = try server.commit()
            return value
        } catch {
            server.rollBack()
            throw error
        }
    }

    private func requireEmpty(_ server: PostgreSQLConnection) throws {
        let isUsed = try ["requests", "users", "ledger"].contains { table in
            try server.has("SELECT 1 FROM \(table)")
        }
        guard !isUsed else {
            throw refusal("the schema has a state already; nothing was changed", at: place)
        }
    }

    private func trigger(
        _ verb: String,
        _ table: MigratedTable,
        _ server: PostgreSQLConnection
    ) throws {
        try server.run("ALTER TABLE \(table.name) \(verb) TRIGGER USER")
    }

    /// The next number of an identity column is behind those that were copied.
    private func continueNumbers(of table: MigratedTable, _ server: PostgreSQLConnection) throws {
        guard let column = table.number else { return }
        _ = try server.has(
            """
            SELECT setval(pg_get_serial_sequence('\(table.name)', '\(column)'), top)
            FROM (SELECT coalesce(max(\(column)), 1) AS top FROM \(table.name)) AS q WHERE top > 0
            """
        )
    }

    /// A wake that the file's service has not ended begins anew in every partition.
    private func wakeAll(_ source: any StateConnection, _ server: PostgreSQLConnection) throws {
        for reason in try WakeWriter.unfinished(source).keys {
            try server.run(
                "INSERT INTO wakes (partition, reason) SELECT number, ? FROM partitions",
                [.text(reason.rawValue)]
            )
        }
    }

    /// root made the files; the service has a user of its own.
    private func own() throws {
        guard geteuid() == 0 else { return }
        var folder = stat()
        let directory = path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex)
        guard unsafe stat(String(directory), &folder) == 0 else {
            throw refusal("the owner of its directory cannot be read")
        }
        for file in files + [StateLock.path(path)] {
            let isOwned = unsafe lchown(file, folder.st_uid, folder.st_gid) == 0
            guard isOwned || errno == ENOENT else {
                throw refusal("it cannot be given to the service")
            }
        }
    }

    private func refusal(_ cause: String, at place: String? = nil) -> StorageError {
        StorageError(.unopenable, "move the state", at: place ?? path, cause: cause)
    }

    private func close(_ file: SQLiteState) {
        do { try file.close() } catch {
            // Everything is committed, or nothing was changed; the next start checks the file.
        }
    }
}
