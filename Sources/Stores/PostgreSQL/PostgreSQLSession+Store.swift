import Encoding
import Engine
import Lifecycle

/// A PostgreSQL database of the application.
typealias PostgreSQLStore = SQLSessionStore<PostgreSQLSession>

/// What a store asks of a session.
extension PostgreSQLSession: SQLSession {
    typealias Dialect = PostgreSQLDialect

    static var kind: String { "postgresql" }
    static var beginPurge: String { "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE" }
    static var beginVerification: String { "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" }
    static var deferConstraints: String { "SET CONSTRAINTS ALL DEFERRED" }
    /// PostgreSQL 15, 25.1.2 and 30.5.
    static var residualCopies: ResidualPhrase { .deadRows }
    /// Most take some milliseconds.
    static var replicaWait: Duration { .seconds(1) }
    static var idleMax: Duration { .seconds(60) }

    func run(_ sql: String) throws(SQLError) { _ = try query(sql) }

    func rows(
        _ sql: String,
        _ parameters: SQLParameters
    ) throws(SQLError) -> [[BoundValue?]] {
        try planned(sql, texts(parameters)).typed
    }

    private func texts(_ parameters: SQLParameters) -> [String?] {
        parameters.values.map { $0?.parameter }
    }

    func schema() throws(SQLError) -> SQLSchema {
        try PostgreSQLCatalog(session: self, schemas: configuration.schemas).read()
    }

    func mark(of tables: [String]) -> String { "" }

    // MARK: Check

    func checkServer(_ found: inout SQLFindings) throws(SQLError) {
        let facts = try query(
            """
            SELECT pg_is_in_recovery(), current_setting('default_transaction_read_only'),
                (SELECT rolsuper FROM pg_roles WHERE rolname = current_user),
                current_setting('session_replication_role')
            """
        )
        guard let values = facts.rows.first, values.count == 4 else { return }
        if values[0] == "t" { found.refuse("the server is a replica; name the primary") }
        if values[1] == "on" {
            found.refuse("the role may only read (read-only transactions)")
        }
        if values[3] == "replica" {
            found.refuse(
                "the role works as a replica, without foreign keys and triggers: reset its"
                    + " session_replication_role"
            )
        }
        if values[2] == "t" {
            found.advise(
                "the role is a superuser; a role with privileges on its tables is enough"
            )
        }
    }

    /// Also checks row security.
    func explain(_ sql: String, _ parameters: SQLParameters) throws(SQLError) {
        _ = try query("EXPLAIN (COSTS off) \(sql)", texts(parameters))
    }

    // MARK: Change

    func change(
        _ table: TablePlan<PostgreSQLDialect>,
        _ parameters: SQLParameters,
        _ masks: ServerMasks
    ) throws(SQLError) -> ServerChunk {
        let asked = parameters.limit ?? 0
        let work = table.work
        guard let sql = work.chunkSQL else {
            guard let selectSQL = work.selectSQL else { return ServerChunk(count: 0, asked: asked) }
            let found = try planned(selectSQL, texts(parameters))
            let count = try mask(table, found.rows, masks)
            // Fewer than there are: the others' values were too long to be read with these.
            let isCut = found.rows.count < found.integer(0)
            return ServerChunk(count: count, asked: isCut ? found.rows.count : asked)
        }
        let found = try changing(sql, texts(parameters))
        var chunk = ServerChunk(count: found.changedCount, asked: asked)
        for (index, release) in table.releases.enumerated() {
            var count = 0
            for key in Set(found.typed.compactMap { $0[index] }) {
                var parameters = parameters
                parameters.key = key
                let sql = release.deleteSQL + Dialect.asApplication
                count += try changing(sql, texts(parameters)).changedCount
            }
            chunk.released.append(count)
        }
        return chunk
    }

    func lockedCount(
        _ table: TablePlan<PostgreSQLDialect>,
        _ parameters: SQLParameters
    ) throws(SQLError) -> Int {
        try table.work.lockedSQL.map { (sql) throws(SQLError) in try count(sql, parameters) } ?? 0
    }

    private func mask(
        _ table: TablePlan<PostgreSQLDialect>,
        _ rows: [[String?]],
        _ masks: ServerMasks
    ) throws(SQLError) -> Int {
        guard !rows.isEmpty else { return 0 }
        var arrays = [rows.map { $0[1] }, rows.map { $0[2] }]
        for (index, mask) in table.work.computed.enumerated() {
            arrays.append(
                rows.map { row in
                    row[index + 3].map { masks.value(mask, of: $0, in: table.table) }
                }
            )
        }
        return try changing(table.work.maskSQL, arrays.map(Self.array)).changedCount
    }

    /// An array as text (PostgreSQL 15, 8.15.2).
    private static func array(_ values: [String?]) -> String {
        let texts = values.map { value in
            guard let value else { return "NULL" }
            let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            return "\"\(escaped)\""
        }
        return "{" + texts.joined(separator: ",") + "}"
    }

    /// The server names the function, not the trigger that runs it.
    func named(_ error: SQLError, at table: String?) throws(SQLError) -> SQLError {
        guard let found = error.obstacle, found.kind == .trigger || found.kind == .permission
        else { return error }
        var error = error
        let (place, cause) = (found.place ?? table, found.cause)
        error.obstacle = Obstacle(found.kind, at: place, name: found.name, cause: cause)
        // A session that is older than all triggers lacks their search path.
        if found.kind == .trigger, !hasTriggers, try query(Self.anyTriggerSQL).rows.count > 0 {
            return SQLError(.lost, store: configuration.name)
        }
        guard found.kind == .trigger, let function = found.name else { return error }
        let schemas = Self.array(configuration.schemas)
        let rows = try query(Self.triggerSQL, [function, table, schemas]).rows
        guard let row = rows.first, let trigger = row[0] else { return error }
        error.obstacle = Obstacle(.trigger, at: row[1], name: trigger, cause: cause)
        return error
    }

    /// The trigger that runs a function: of the listed schemas and of the table if there is any,
    /// since the server names a function in the application's search path without its schema.
    private static let triggerSQL = """
        SELECT t.tgname, c.relname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
        JOIN pg_proc p ON p.oid = t.tgfoid JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE NOT t.tgisinternal AND $1 IN (p.proname, n.nspname || '.' || p.proname)
        ORDER BY n.nspname::text <> ALL ($3::text[]), c.relname <> $2, t.tgname LIMIT 1
        """

    // MARK: Replicas

    func logPlace() throws(SQLError) -> String? {
        try query("SELECT pg_current_wal_flush_lsn()").rows.first?[0]
    }

    /// As far as the role may know it (`pg_read_all_stats`); a base backup that is being made is
    /// none.
    func replicas(behind place: String?) throws(SQLError) -> ReplicasBehind? {
        let found = try query(
            """
            SELECT count(*), count(*) FILTER (WHERE replay_lsn IS NULL),
                ceil(extract(epoch FROM max(replay_lag)) * 1000)::bigint
            FROM pg_stat_replication
            WHERE state IS DISTINCT FROM 'backup'
                AND (replay_lsn IS NULL OR replay_lsn < $1::pg_lsn)
            """,
            [place]
        )
        let hasLag = found.rows.first?[2] != nil
        return ReplicasBehind(
            count: found.integer(0),
            isKnown: found.integer(1) == 0,
            lag: hasLag ? .milliseconds(found.integer(2)) : nil
        )
    }
}

extension BoundValue {
    /// As the text of a parameter.
    fileprivate var parameter: String {
        switch self {
        case .text(let bytes): String(decoding: bytes, as: UTF8.self)
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .blob(let bytes): Hexadecimal.text(bytes)
        }
    }
}
