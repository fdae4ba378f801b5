import Engine
import Lifecycle

/// A MySQL or MariaDB database of the application.
typealias MySQLStore = SQLSessionStore<MySQLSession>

/// What a store asks of a session.
extension MySQLSession: SQLSession {
    typealias Dialect = MySQLDialect

    static var kind: String { "mysql" }
    static var beginPurge: String { "START TRANSACTION READ WRITE" }
    static var beginVerification: String {
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;"
            + "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"
    }
    /// InnoDB checks each row at once (MySQL 8.0, 15.1.20.5).
    static var deferConstraints: String { "DO 0" }
    static var residualCopies: ResidualPhrase { .undoLog }
    /// A server does not know how far its replicas are.
    static var replicaWait: Duration { .zero }
    static var idleMax: Duration { .seconds(60) }

    func rows(
        _ sql: String,
        _ parameters: SQLParameters
    ) throws(SQLError) -> [[BoundValue?]] {
        try query(sql, parameters.values.map(MySQLValue.init)).typed
    }

    func schema() throws(SQLError) -> SQLSchema { try MySQLCatalog(session: self).read() }

    /// A view in the place of a table, another engine or another type of a column would be worked
    /// on without an error.
    func mark(of tables: [String]) throws(SQLError) -> String {
        var mark = ""
        for table in tables {
            let text = try query("SHOW CREATE TABLE \(table)").rows.first.map { $0[1].text ?? "" }
            // The next number of a row is no change of the table.
            mark += (text ?? "").replacing(/\ AUTO_INCREMENT=[0-9]+/, with: "") + "\n"
        }
        return mark
    }

    // MARK: Check

    func checkServer(_ found: inout SQLFindings) throws(SQLError) {
        let facts = try query(
            """
            SHOW GLOBAL VARIABLES WHERE Variable_name IN
            ('innodb_flush_log_at_trx_commit', 'log_bin', 'binlog_format')
            """
        )
        let pairs = facts.rows.map { ($0[0].text ?? "", $0[1].text ?? "") }
        let values = Dictionary(pairs) { first, _ in first }
        if values["log_bin"] == "ON", values["binlog_format"] == "STATEMENT" {
            found.refuse("binlog_format is STATEMENT; set it to ROW")
        }
        if let flushes = values["innodb_flush_log_at_trx_commit"], flushes != "1" {
            found.advise(
                "innodb_flush_log_at_trx_commit is \(flushes): a crash of the server can bring"
                    + " back erased rows; set it to 1"
            )
        }
        let grants = try MySQLGrants(query("SHOW GRANTS").rows.map { $0[0].text ?? "" })
        if grants.hasAll {
            found.advise(
                "the user has all privileges; one with privileges on its tables is enough"
            )
        }
        if !grants.mayRead(configuration.database) {
            let place = "\(MySQLDialect.quoted(configuration.database)).*"
            let reason = "tables are seen where the user has rights; grant it SELECT ON \(place)"
            let unread = CoverageFinding(.unread, CoverageFinding.everywhere, reason)
            found.uncovered.append(unread)
        }
    }

    /// Also checks names and privileges.
    func explain(_ sql: String, _ parameters: SQLParameters) throws(SQLError) {
        _ = try query("EXPLAIN \(sql)", parameters.values.map(MySQLValue.init))
    }

    // MARK: Change

    func change(
        _ table: TablePlan<MySQLDialect>,
        _ parameters: SQLParameters,
        _ masks: ServerMasks
    ) throws(SQLError) -> ServerChunk {
        let work = table.work
        var parameters = parameters
        if let sql = work.directSQL {
            let values = parameters.values.map(MySQLValue.init)
            let released = try work.releasedSQL.map { (sql) throws(SQLError) in
                try query(sql, values).rows
            }
            let changed = try query(sql, values).changedCount
            var chunk = ServerChunk(count: changed, asked: parameters.limit ?? 0)
            chunk.released = try release(table, released ?? [], parameters)
            return chunk
        }
        if let chunk = try changePromptly(work, parameters) { return chunk }
        let asked = min(parameters.limit ?? 0, MySQLLimits.chunkRows)
        parameters.limit = asked
        guard let sql = work.selectSQL else { return ServerChunk(count: 0, asked: asked) }
        let found = try query(sql, parameters.values.map(MySQLValue.init)).rows
        guard !found.isEmpty else { return ServerChunk(count: 0, asked: asked) }
        if let changeSQL = work.changeSQL {
            let given = parameters.values.map(MySQLValue.init)
            let named = try change(work, changeSQL, work.orderSQL, given, rows: found)
            var chunk = ServerChunk(count: named.changedCount, asked: asked)
            let released = found.map { Array($0.dropFirst(work.keys.count)) }
            chunk.released = try release(table, released, parameters)
            return chunk
        }
        let fitting = Self.fitting(found)
        let count = try mask(table, fitting, masks)
        return ServerChunk(count: count, asked: fitting.count < found.count ? count : asked)
    }

    /// Changes a chunk by one statement, which costs the server a fifth less than two.
    ///
    /// - Returns: `nil` when it would have had to wait; the transaction is as it was then.
    private func changePromptly(
        _ work: MySQLWork,
        _ parameters: SQLParameters
    ) throws(SQLError) -> ServerChunk? {
        guard refusesToWait, let sql = work.promptSQL else { return nil }
        do throws(SQLError) {
            let values = parameters.values.map(MySQLValue.init)
            let count = try query(Self.withoutWaiting + sql, values).changedCount
            return ServerChunk(count: count, asked: parameters.limit ?? 0)
        } catch {
            guard error.code == .mysql(1205) else { throw error }
            return nil
        }
    }

    /// Deletes what a chunk's rows referred to, by the first columns of each row.
    private func release(
        _ table: TablePlan<MySQLDialect>,
        _ rows: [[MySQLValue]],
        _ parameters: SQLParameters
    ) throws(SQLError) -> [Int] {
        var counts: [Int] = []
        for (index, release) in table.releases.enumerated() {
            var (count, parameters) = (0, parameters)
            for key in Set(rows.map { $0[index] }) where !key.isNull {
                parameters.key = key.bound
                let values = parameters.values.map(MySQLValue.init)
                count += try query(release.deleteSQL, values).changedCount
            }
            counts.append(count)
        }
        return counts
    }

    /// Runs a statement about rows, which are named by the first columns of each.
    ///
    /// The last one is named as often as it takes to a power of two: few statements are prepared.
    private func change(
        _ work: MySQLWork,
        _ sql: String,
        _ end: String = "",
        _ given: [MySQLValue] = [],
        rows: [[MySQLValue]]
    ) throws(SQLError) -> MySQLRows {
        var size = 1
        while size < rows.count { size *= 2 }
        let keys = rows.map { $0.prefix(work.keys.count) }
        let all = keys + Array(repeating: keys[keys.count - 1], count: size - keys.count)
        let missing = max(work.parameterCount - given.count, 0)
        let before = given.prefix(work.parameterCount) + Array(repeating: .null, count: missing)
        return try query(sql + work.condition(rows: size) + end, before + all.flatMap(\.self))
    }

    /// The first rows whose values may be read at once; their sizes are in the last column.
    private static func fitting(_ rows: [[MySQLValue]]) -> [[MySQLValue]] {
        var sent = 0
        let count = rows.prefix { row in
            defer { sent += row.last?.bound?.number ?? 0 }
            return sent < MySQLLimits.maskBytes
        }.count
        return Array(rows.prefix(count))
    }

    func lockedCount(
        _ table: TablePlan<MySQLDialect>,
        _ parameters: SQLParameters
    ) throws(SQLError) -> Int {
        guard let countSQL = table.work.countSQL, let selectSQL = table.work.selectSQL else {
            return 0
        }
        let count = try count(countSQL, parameters)
        guard count > 0 else { return 0 }
        var parameters = parameters
        parameters.limit = count
        let free = try query(selectSQL, parameters.values.map(MySQLValue.init)).rows.count
        return max(count - free, 0)
    }

    private func mask(
        _ table: TablePlan<MySQLDialect>,
        _ rows: [[MySQLValue]],
        _ masks: ServerMasks
    ) throws(SQLError) -> Int {
        let work = table.work
        guard let maskSQL = work.maskSQL else { return 0 }
        let isRead = work.valuesSQL != nil
        let read = try work.valuesSQL.map { (sql) throws(SQLError) in
            try change(work, sql, rows: rows).rows
        }
        var count = 0
        for row in read ?? rows {
            let values = work.computed.enumerated().map { index, mask -> MySQLValue in
                let value = row[work.keys.count + index]
                let isPresent = isRead ? !value.isNull : value == .integer(1)
                guard isPresent else { return .null }
                let text = mask.strategy == .hash ? value.text ?? "" : ""
                return .text(Array(masks.value(mask, of: text, in: table.table).utf8))
            }
            count += try query(maskSQL, values + row.prefix(work.keys.count)).changedCount
        }
        return count
    }

    /// The server does not say which trigger it was; a table with one has no other.
    func named(_ error: SQLError, at table: String?) throws(SQLError) -> SQLError {
        guard let found = error.obstacle, let table else { return error }
        var error = error
        error.obstacle = Obstacle(found.kind, at: found.place ?? table, name: found.name)
        guard found.kind == .trigger else { return error }
        let names = try query(
            """
            SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = ?1
            AND EVENT_OBJECT_TABLE = ?2 AND EVENT_MANIPULATION <> 'INSERT' LIMIT 2
            """,
            [.text(Array(configuration.database.utf8)), .text(Array(table.utf8))]
        )
        guard names.rows.count == 1 else { return error }
        error.obstacle = Obstacle(.trigger, at: table, name: names.text(0))
        return error
    }

    // MARK: Replicas

    func logPlace() throws(SQLError) -> String? { nil }

    /// Those that read the binary log at this moment, as far as the user may see them (`PROCESS`).
    func replicas(behind place: String?) throws(SQLError) -> ReplicasBehind? {
        guard try query("SELECT @@GLOBAL.log_bin").text(0) != "0" else {
            return ReplicasBehind(count: 0, isKnown: true, lag: nil)
        }
        let grants = try MySQLGrants(query("SHOW GRANTS").rows.map { $0[0].text ?? "" })
        guard grants.maySeeProcesses else { return nil }
        let found = try query(
            """
            SELECT COUNT(*) FROM information_schema.PROCESSLIST
            WHERE COMMAND LIKE 'Binlog Dump%'
            """
        )
        return ReplicasBehind(count: Int(found.text(0) ?? "") ?? 0, isKnown: false, lag: nil)
    }
}

/// What `SHOW GRANTS` says, of roles that are on as well.
struct MySQLGrants {
    private let lines: [String]

    init(_ lines: [String]) { self.lines = lines }

    var hasAll: Bool { lines.contains { $0.hasPrefix("GRANT ALL PRIVILEGES ON *.* ") } }

    /// All clients of the server, not only the user's own.
    var maySeeProcesses: Bool { hasAll || isGranted("PROCESS", ["*.*"]) }

    /// Every table of a database.
    func mayRead(_ database: String) -> Bool {
        // A name is a pattern there, in which an underscore is escaped (MySQL 8.0, 15.7.1.6).
        let names = [database, database.replacing("_", with: "\\_")]
            .map { "\(MySQLDialect.quoted($0)).*" }
        return isGranted("ALL PRIVILEGES", ["*.*"] + names) || isGranted("SELECT", ["*.*"] + names)
    }

    private func isGranted(_ privilege: String, _ places: [String]) -> Bool {
        lines.contains { line in
            guard line.hasPrefix("GRANT "), let end = line.firstRange(of: " ON ") else {
                return false
            }
            let privileges = line[..<end.lowerBound].dropFirst("GRANT ".count).split(separator: ",")
            let place = line[end.upperBound...]
            return privileges.contains { $0.drop { $0 == " " } == privilege }
                && places.contains { place.hasPrefix($0 + " ") }
        }
    }
}
