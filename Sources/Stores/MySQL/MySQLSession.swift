internal import CMariaDB
internal import Glibc
internal import Lifecycle

/// One session at the server, without a call that blocks for longer than its deadline.
///
/// Confined to the queue of its store; every wait is a poll(2) that a cancellation ends. Only the
/// resolution of a host name may take as long as resolv.conf(5) allows.
final class MySQLSession {
    private let handle: MySQLHandle
    let configuration: MySQLStorePlan
    private let uptime: @Sendable () -> Duration
    private let isMariaDB: Bool
    /// The server ends a statement of any kind by itself (MariaDB), not only one that reads.
    var endsStatements: Bool
    /// The server can end a statement alone, at once, where others have locked a row.
    private(set) var refusesToWait = false
    /// The server compares names of tables without regard to case.
    private(set) var ignoresTableCase = false
    /// Wakes the waits of the present call.
    var signal: CancelSignal?
    /// Called before each statement; a test ends the session there.
    var beforeStatement: (@Sendable (String) -> Bool)?

    private init(
        handle: MySQLHandle,
        configuration: MySQLStorePlan,
        uptime: @escaping @Sendable () -> Duration
    ) {
        self.handle = handle
        self.configuration = configuration
        self.uptime = uptime
        isMariaDB = handle.isMariaDB
        endsStatements = isMariaDB
    }

    private var store: StoreName { configuration.name }

    // MARK: Connecting

    static func open(
        _ plan: MySQLStorePlan,
        proofKey: String = "",
        signal: CancelSignal?,
        uptime: @escaping @Sendable () -> Duration
    ) throws(SQLError) -> MySQLSession {
        let session = try connect(plan, signal: signal, uptime: uptime)
        try session.prepare(proofKey: proofKey)
        return session
    }

    private static func connect(
        _ plan: MySQLStorePlan,
        signal: CancelSignal?,
        uptime: @escaping @Sendable () -> Duration
    ) throws(SQLError) -> MySQLSession {
        let handle = try MySQLHandle(plan)
        let deadline = uptime() + MySQLLimits.connect
        try handle.connect(plan) { (awaited) throws(SQLError) in
            let came = try wait(awaited, of: handle, signal, uptime, until: deadline)
            guard let came else { throw SQLError(.unreachable, mysql: 0, store: plan.name) }
            return came
        }
        let session = MySQLSession(handle: handle, configuration: plan, uptime: uptime)
        session.signal = signal
        return session
    }

    /// Where the statements of a session find ``MaskText/proofKey(_:)``.
    static let proofKeyVariable = "@expunged_proof_key"

    /// Before a statement of MariaDB that is not to wait for a lock (MariaDB 10.3 and later,
    /// `innodb_lock_wait_timeout`); MySQL waits for at least a second.
    static let withoutWaiting = "SET STATEMENT innodb_lock_wait_timeout = 0 FOR "

    private func prepare(proofKey: String) throws(SQLError) {
        let first = isMariaDB ? MySQLLimits.mariaDBVersion : MySQLLimits.mysqlVersion
        guard handle.version >= first else {
            throw SQLError(.unfit, mysql: 0, store: store)
        }
        // What an administrator or `init_connect` set for applications must not change what a
        // statement means.
        let seconds = max(1, Int(configuration.lockTimeout.components.seconds))
        let own =
            isMariaDB
            ? """
            max_statement_time = \(configuration.statementTimeout.milliseconds) / 1000,
            idle_transaction_timeout = 30, in_predicate_conversion_threshold = 0,
            eq_range_index_dive_limit = \(MySQLLimits.divedRanges),
            max_recursive_iterations = 4294967295
            """
            : """
            max_execution_time = \(configuration.statementTimeout.milliseconds),
            range_optimizer_max_mem_size = 0,
            eq_range_index_dive_limit = \(MySQLLimits.divedRanges),
            cte_max_recursion_depth = 4294967295
            """
        try run("SET NAMES utf8mb4 COLLATE utf8mb4_bin")
        try run(
            """
            SET SESSION
            sql_mode = 'STRICT_ALL_TABLES,NO_BACKSLASH_ESCAPES,NO_ENGINE_SUBSTITUTION',
            time_zone = '+00:00', autocommit = 1, completion_type = 0, foreign_key_checks = 1,
            unique_checks = 1, sql_safe_updates = 0, sql_select_limit = DEFAULT,
            sql_auto_is_null = 0, div_precision_increment = 4, wait_timeout = 600,
            innodb_lock_wait_timeout = \(seconds), lock_wait_timeout = \(seconds), \(own)
            """
        )
        try run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
        _ = try query("SET \(Self.proofKeyVariable) = ?1", [.text(Array(proofKey.utf8))])
        let facts = try query(
            """
            SELECT @@GLOBAL.read_only, @@lower_case_table_names,
            @@GLOBAL.innodb_rollback_on_timeout
            """
        )
        guard ["0", "OFF"].contains(facts.text(0)) else {
            throw SQLError(.readOnly, store: store)
        }
        ignoresTableCase = facts.text(1) != "0"
        // Otherwise the whole transaction would be taken back, and with it what is answered.
        refusesToWait = isMariaDB && ["0", "OFF"].contains(facts.text(2))
    }

    // MARK: Statements

    /// Runs statements without parameters and rows, parted by semicolons.
    func run(_ sql: String) throws(SQLError) {
        for statement in sql.split(separator: ";") {
            try perform(String(statement)) { (wait) throws(SQLError) in
                try handle.run(String(statement), wait)
            }
        }
    }

    /// Runs one statement with numbered parameters.
    ///
    /// A server that does not end it by itself is asked to, and then has
    /// ``MySQLLimits/grace`` before the session is given up.
    func query(_ sql: String, _ values: [MySQLValue] = []) throws(SQLError) -> MySQLRows {
        try perform(sql) { (wait) throws(SQLError) in try handle.query(sql, values, wait) }
    }

    private func perform<Answer>(
        _ sql: String,
        _ body: (MySQLHandle.Wait) throws(SQLError) -> Answer
    ) throws(SQLError) -> Answer {
        if let beforeStatement, !beforeStatement(sql) { throw SQLError(.lost, store: store) }
        guard !isCancelled else { throw SQLError(.cancelled, store: store) }
        let margin = endsStatements ? MySQLLimits.grace : .zero
        var deadline = uptime() + configuration.statementTimeout + margin
        var isAsked = false
        return try body { (awaited) throws(SQLError) in
            while true {
                do throws(SQLError) {
                    let came = try Self.wait(awaited, of: handle, signal, uptime, until: deadline)
                    if let came { return came }
                } catch {
                    if error.kind == .cancelled { end() }
                    throw error
                }
                guard !isAsked else { throw SQLError(.lost, store: store) }
                isAsked = true
                deadline = uptime() + MySQLLimits.grace
                end()
            }
        }
    }

    private var isCancelled: Bool {
        var entry = pollfd(fd: signal?.descriptor ?? -1, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, 0) > 0
    }

    /// Has the server end the running statement, so that it does not work on for nobody.
    ///
    /// By a connection of its own, as the protocol wants it. A server that does not let us in
    /// notices that we are gone when it answers.
    private func end() {
        do throws(SQLError) {
            let other = try Self.connect(configuration, signal: nil, uptime: uptime)
            let deadline = uptime() + MySQLLimits.grace
            try other.handle.run("KILL QUERY \(handle.connectionID)") {
                (awaited) throws(SQLError) in
                let came = try Self.wait(awaited, of: other.handle, nil, uptime, until: deadline)
                guard let came else { throw SQLError(.lost, store: store) }
                return came
            }
        } catch {
            // Our own wait ends nevertheless, and the caller reports why.
            return
        }
    }

    /// Waits for what a call asks for, in the library's flags.
    ///
    /// - Returns: What came; `nil` at the deadline.
    private static func wait(
        _ awaited: Int32,
        of handle: MySQLHandle,
        _ signal: CancelSignal?,
        _ uptime: () -> Duration,
        until deadline: Duration
    ) throws(SQLError) -> Int32? {
        var events: Int32 = 0
        if awaited & MYSQL_WAIT_READ != 0 { events |= POLLIN }
        if awaited & MYSQL_WAIT_WRITE != 0 { events |= POLLOUT }
        if awaited & MYSQL_WAIT_EXCEPT != 0 { events |= POLLPRI }
        while true {
            let rest = deadline - uptime()
            guard rest > .zero else { return nil }
            var entries = [
                pollfd(fd: handle.socket, events: Int16(events), revents: 0),
                pollfd(fd: signal?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
            ]
            let count = unsafe poll(&entries, 2, Int32(clamping: rest.milliseconds + 1))
            if count < 0, errno != EINTR { throw SQLError(.lost, store: handle.store) }
            if entries[1].revents != 0 { throw SQLError(.cancelled, store: handle.store) }
            let came = Int32(entries[0].revents)
            guard came != 0 else { continue }
            var flags: Int32 = 0
            if came & (POLLIN | POLLHUP | POLLERR) != 0 { flags |= MYSQL_WAIT_READ }
            if came & (POLLOUT | POLLERR) != 0 { flags |= MYSQL_WAIT_WRITE }
            if came & POLLPRI != 0 { flags |= MYSQL_WAIT_EXCEPT }
            return flags & awaited == 0 ? awaited : flags & awaited
        }
    }
}
