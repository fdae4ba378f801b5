internal import Encoding
internal import Lifecycle
internal import PostgreSQL

/// What a statement answered.
struct PostgreSQLRows {
    /// Values as text; `nil` for NULL.
    private(set) var rows: [[String?]] = []
    /// The types of the columns, of `pg_type`.
    private(set) var types: [UInt32] = []
    /// Rows that were changed.
    private(set) var changedCount = 0

    /// Values of numbers and bytes by their types, all others as text.
    var typed: [[BoundValue?]] {
        rows.map { row in zip(row, types).map { $0.flatMap { [type = $1] in Self.value($0, type) } }
        }
    }

    private static func value(_ text: String, _ type: UInt32) -> BoundValue? {
        switch type {
        case PostgreSQLParameters.TypeID.int8, PostgreSQLParameters.TypeID.int2,
            PostgreSQLParameters.TypeID.int4:
            Int64(text).map { .integer($0) }
        case PostgreSQLParameters.TypeID.bytea:
            Hexadecimal.decode(Array(text.utf8.dropFirst(2))).map { .blob($0) }
        default: .text(Array(text.utf8))
        }
    }

    /// A value of the first row; 0 for NULL and when there is none.
    func integer(_ column: Int) -> Int {
        guard let row = rows.first, column < row.count, let text = row[column] else { return 0 }
        return Int(text) ?? 0
    }
}

/// One session at the server of a store.
///
/// Confined to the queue of its store, as its ``PostgreSQL/PostgreSQLLink``.
final class PostgreSQLSession {
    private let link: PostgreSQLLink
    let configuration: PostgreSQLStorePlan
    private let uptime: @Sendable () -> Duration
    private var prepared = PreparedStatements()
    /// Whose search path the open transaction has.
    private enum Path { case own, application, ownAgain }
    private var path = Path.own
    /// Whether the database has a trigger, which alone needs the application's search path.
    ///
    /// Where a newer one refuses, the work begins again in a new session.
    private(set) var hasTriggers = false
    /// Wakes the waits of the present call.
    var signal: CancelSignal? {
        didSet { link.wakeDescriptor = signal?.descriptor ?? -1 }
    }
    /// Called before each statement; a test ends the session there.
    var beforeStatement: (@Sendable (String) -> Bool)?

    private init(
        link: PostgreSQLLink,
        configuration: PostgreSQLStorePlan,
        uptime: @escaping @Sendable () -> Duration
    ) {
        self.link = link
        self.configuration = configuration
        self.uptime = uptime
    }

    private var store: StoreName { configuration.name }

    // MARK: Connecting

    static func open(
        _ plan: PostgreSQLStorePlan,
        proofKey: String = "",
        signal: CancelSignal?,
        uptime: @escaping @Sendable () -> Duration
    ) throws(SQLError) -> PostgreSQLSession {
        let link: PostgreSQLLink
        do {
            link = try PostgreSQLLink.open(
                plan.completedConninfo,
                within: PostgreSQLLimits.connect,
                memoryMax: Int64(SQLLimits.libraryBytes),
                wakeDescriptor: signal?.descriptor ?? -1,
                uptime: uptime
            )
        } catch {
            throw SQLError(error, store: plan.name)
        }
        let session = PostgreSQLSession(link: link, configuration: plan, uptime: uptime)
        session.signal = signal
        try session.prepare(plan, proofKey: proofKey)
        return session
    }

    /// Where the statements of a session find ``MaskText/proofKey(_:)``.
    static let proofKeySetting = "expunged.proof_key"
    /// Where they find the search path of the application.
    static let pathSetting = "expunged.search_path"

    static let anyTriggerSQL =
        "SELECT 1 FROM pg_catalog.pg_trigger WHERE NOT tgisinternal AND tgenabled IN ('O', 'A')"

    private func prepare(
        _ plan: PostgreSQLStorePlan,
        proofKey: String
    ) throws(SQLError) {
        guard link.serverVersion >= PostgreSQLLimits.serverVersion else {
            throw SQLError(
                .failed,
                store: store,
                advice: "the server is older than PostgreSQL 12"
            )
        }
        // An empty search path: no function or operator of the application's stands in for one of
        // the server's (CVE-2018-1058). Its triggers get the path of the role or database and the
        // listed schemas, if there is any; pg_temp comes last, where it hides no table. A commit is
        // on disk when it is acknowledged, whatever suits the application: rows that a crash of the
        // server brings back would be called erased.
        let settings = try query(
            """
            SELECT set_config('\(Self.pathSetting)', CASE WHEN NOT EXISTS (\(Self.anyTriggerSQL))
                    THEN ''
                    WHEN (SELECT source FROM pg_catalog.pg_settings WHERE name = 'search_path')
                        IN ('database', 'user', 'database user')
                    THEN concat_ws(', ', nullif(current_setting('search_path'), ''),
                        nullif($4::text, ''), 'pg_temp')
                    ELSE concat_ws(', ', nullif($4::text, ''),
                        nullif(current_setting('search_path'), ''), 'pg_temp') END, false),
                set_config('search_path', '', false),
                set_config('statement_timeout', $1, false),
                set_config('lock_timeout', $2, false),
                set_config('idle_in_transaction_session_timeout', '30s', false),
                set_config('standard_conforming_strings', 'on', false),
                set_config('bytea_output', 'hex', false),
                set_config('TimeZone', 'UTC', false), set_config('row_security', 'off', false),
                set_config('synchronous_commit', CASE current_setting('synchronous_commit')
                    WHEN 'off' THEN 'local' ELSE current_setting('synchronous_commit') END, false),
                set_config('\(Self.proofKeySetting)', $3, false)
            """,
            [
                "\(plan.statementTimeout.milliseconds)", "\(plan.lockTimeout.milliseconds)",
                proofKey, plan.schemas.map(PostgreSQLDialect.quoted).joined(separator: ", "),
            ],
            within: PostgreSQLLimits.setUp
        )
        hasTriggers = settings.rows.first?[0]?.isEmpty == false
        // A request to cancel may reach the server before the statement does, which then waits for
        // nobody; from 14 on the server itself looks whether we are still there.
        _ = try query(
            """
            SELECT set_config(name, '1s', false) FROM pg_settings
            WHERE name = 'client_connection_check_interval'
            """,
            within: PostgreSQLLimits.setUp
        )
    }

    // MARK: Statements

    /// Runs one statement with parameters as text.
    ///
    /// `limit` is the server's own, `nil` for the configured one; an answer later than that and
    /// ``PostgreSQLLimits/grace`` ends the session.
    func query(
        _ sql: String,
        _ values: [String?] = [],
        within limit: Duration? = nil
    ) throws(SQLError) -> PostgreSQLRows {
        try returnToOwnPath()
        return try perform(sql, within: limit) { send(sql, values) }
    }

    /// Runs a statement of a plan with ``PostgreSQLDialect/asApplication``.
    func changing(_ sql: String, _ values: [String?]) throws(SQLError) -> PostgreSQLRows {
        let rows = try planned(sql, values)
        if hasTriggers { path = .application }
        return rows
    }

    /// What the application has put off until the commit runs by its own path.
    func end(_ end: TransactionEnd) throws(SQLError) {
        let isOwnAgain = path == .ownAgain
        path = .own
        if isOwnAgain, end == .commit {
            try perform("SELECT true\(PostgreSQLDialect.asApplication)")
        }
        try perform(end.rawValue)
    }

    /// Names in our own statements are resolved by our path.
    private func returnToOwnPath() throws(SQLError) {
        guard path == .application else { return }
        path = .ownAgain
        try perform("SET LOCAL search_path = ''")
    }

    private func perform(_ sql: String) throws(SQLError) {
        _ = try perform(sql) { send(sql, []) }
    }

    /// Runs a statement of a plan, which comes again for the next user: from the second time on the
    /// server has it parsed and planned.
    func planned(_ sql: String, _ values: [String?]) throws(SQLError) -> PostgreSQLRows {
        try returnToOwnPath()
        let name: String
        switch prepared.use(sql) {
        case .once: return try query(sql, values)
        case .prepare(let new):
            // Each is text to the server, which the statement casts: nothing is left to guess.
            let types = values.map { _ in PostgreSQLParameters.TypeID.text }
            _ = try perform(sql) { link.sendPreparation(new, sql, types: types) }
            prepared.keep(new, for: sql)
            name = new
        case .known(let known): name = known
        }
        do throws(SQLError) {
            return try perform(sql) { send(name, values, isPrepared: true) }
        } catch {
            // The columns of the table are others (0A000), or a pooler has handed us the session of
            // somebody else (26000).
            guard error.code == .sqlState("0A000") || error.code == .sqlState("26000") else {
                throw error
            }
            prepared.forget()
            throw SQLError(.schemaChanged, store: store, code: error.code)
        }
    }

    private func perform(
        _ sql: String,
        within limit: Duration? = nil,
        _ send: () -> Bool
    ) throws(SQLError) -> PostgreSQLRows {
        if let beforeStatement, !beforeStatement(sql) {
            throw SQLError(.lost, store: store)
        }
        let deadline = uptime() + (limit ?? configuration.statementTimeout) + PostgreSQLLimits.grace
        guard !link.isCancelled else { throw SQLError(.cancelled, store: store) }
        guard send() else { throw SQLError(link.broken, store: store) }
        link.readRowByRow()
        do {
            return try answer(until: deadline)
        } catch {
            if error.kind == .cancelled || error.kind == .timeout && error.code == nil {
                link.cancel()
            }
            throw error
        }
    }

    /// Sends the values as text, and wipes the copy.
    private func send(_ sql: String, _ values: [String?], isPrepared: Bool = false) -> Bool {
        var parameters = PostgreSQLParameters()
        for value in values { parameters.append(text: value) }
        defer { parameters.wipe() }
        return link.send(sql, isPrepared: isPrepared, parameters, isBinary: false)
    }

    private func answer(until deadline: Duration) throws(SQLError) -> PostgreSQLRows {
        do {
            try link.flush(until: deadline)
            var rows = PostgreSQLRows()
            var (size, isAnswered) = (0, false)
            var failed: SQLError?
            while let result = try link.nextResult(until: deadline) {
                isAnswered = true
                guard result.kind == .done else {
                    failed = failed ?? SQLError(result, store: store)
                    continue
                }
                try rows.append(result, &size, store)
            }
            if let failed { throw failed }
            guard isAnswered else { throw PostgreSQLFailure.lost }
            return rows
        } catch let error as SQLError {
            throw error
        } catch let failure as PostgreSQLFailure {
            throw SQLError(failure, store: store)
        } catch {
            throw SQLError(.lost, store: store)
        }
    }

    /// Waits for a notification of a channel that the session listens to.
    ///
    /// - Returns: `false` when none came in time.
    func awaitNotification(within time: Duration) throws(SQLError) -> Bool {
        let deadline = uptime() + time
        do {
            while true {
                if try !link.takeNotifications().isEmpty { return true }
                try link.waitForInput(until: deadline)
            }
        } catch .timeout {
            return false
        } catch {
            throw SQLError(error, store: store)
        }
    }
}

extension PostgreSQLRows {
    /// Adds what one of the answers to a statement has, the last of which counts the rows.
    fileprivate mutating func append(
        _ result: PostgreSQLResult,
        _ size: inout Int,
        _ store: StoreName
    ) throws(SQLError) {
        let columns = 0..<result.columnCount
        // Rows come one by one, and are all of the same types.
        if rows.isEmpty { types = columns.map { result.type(at: $0) } }
        for index in 0..<result.rowCount {
            let row = result.row(index)
            let values = columns.map { column -> String? in
                guard !row.isNull(at: column) else { return nil }
                return unsafe row.withBytes(at: column) {
                    unsafe String(decoding: $0, as: UTF8.self)
                }
            }
            let bytes = values.reduce(0) { $0 + ($1?.utf8.count ?? 0) }
            try SQLLimits.add(rowOf: values.count, bytes: bytes, to: &size, of: store)
            rows.append(values)
        }
        changedCount = result.rowTotal
    }
}

extension PostgreSQLStorePlan {
    /// The connection string with what the configuration decides.
    var completedConninfo: PostgreSQLConninfo {
        get throws(PostgreSQLFailure) {
            try PostgreSQLConninfo(
                conninfo,
                database: database,
                tls: tls,
                caFile: caFile,
                limit: PostgreSQLLimits.connect
            )
        }
    }
}
