internal import CPostgres
internal import Glibc
internal import Lifecycle

/// What a statement answered.
struct PostgreSQLRows {
    /// Values as text; `nil` for NULL.
    let rows: [[String?]]
    /// The types of the columns, of `pg_type`.
    let types: [Oid]
    /// Rows that were changed.
    let changedCount: Int

    /// Values of numbers and bytes by their types, all others as text.
    var typed: [[BoundValue?]] {
        rows.map { row in zip(row, types).map { $0.flatMap { [type = $1] in Self.value($0, type) } }
        }
    }

    private static func value(_ text: String, _ type: Oid) -> BoundValue? {
        switch type {
        case 20, 21, 23: Int64(text).map { .integer($0) }
        case 17: IDType.decodeHexadecimal(Array(text.utf8.dropFirst(2))).map { .blob($0) }
        default: .text(Array(text.utf8))
        }
    }

    /// A value of the first row; 0 for NULL and when there is none.
    func integer(_ column: Int) -> Int {
        guard let row = rows.first, column < row.count, let text = row[column] else { return 0 }
        return Int(text) ?? 0
    }
}

/// One session at the server, without a call that blocks for longer than its deadline.
///
/// Confined to the queue of its target; every wait is a poll(2) that a cancellation ends. Only the
/// resolution of a host name may take as long as resolv.conf(5) allows.
@safe final class PostgreSQLSession {
    private let handle: OpaquePointer
    let configuration: PostgreSQLTargetPlan
    private let uptime: @Sendable () -> Duration
    private var prepared = PreparedStatements()
    /// Wakes the waits of the present call.
    var signal: CancelSignal?
    /// Called before each statement; a test ends the session there.
    var beforeStatement: (@Sendable (String) -> Bool)?

    private init(
        handle: OpaquePointer,
        configuration: PostgreSQLTargetPlan,
        uptime: @escaping @Sendable () -> Duration
    ) {
        unsafe self.handle = handle
        self.configuration = configuration
        self.uptime = uptime
    }

    deinit { unsafe PQfinish(handle) }

    private var target: TargetName { configuration.name }

    // MARK: Connecting

    static func open(
        _ plan: PostgreSQLTargetPlan,
        proofKey: String = "",
        signal: CancelSignal?,
        uptime: @escaping @Sendable () -> Duration
    ) throws(SQLError) -> PostgreSQLSession {
        let options = try PostgreSQLConninfo(plan).options
        guard let handle = unsafe start(options) else {
            throw SQLError(.unreachable, target: plan.name)
        }
        let session = unsafe PostgreSQLSession(handle: handle, configuration: plan, uptime: uptime)
        session.signal = signal
        try session.finishConnecting()
        try session.prepare(plan, proofKey: proofKey)
        return session
    }

    private static func start(_ options: [(key: String, value: String)]) -> OpaquePointer? {
        var keys = unsafe options.map { unsafe UnsafePointer<CChar>(strdup($0.key)) }
        var values = unsafe options.map { unsafe UnsafePointer<CChar>(strdup($0.value)) }
        unsafe keys.append(nil)
        unsafe values.append(nil)
        defer {
            for index in options.indices {
                unsafe wipe(keys[index])
                unsafe wipe(values[index])
            }
        }
        return unsafe PQconnectStartParams(keys, values, 0)
    }

    private static func wipe(_ text: UnsafePointer<CChar>?) {
        guard let text = unsafe UnsafeMutablePointer(mutating: text) else { return }
        unsafe explicit_bzero(text, strlen(text))
        unsafe free(text)
    }

    private func finishConnecting() throws(SQLError) {
        // The default prints notices, which quote values, on standard error.
        _ = unsafe PQsetNoticeProcessor(handle, { _, _ in }, nil)
        _ = unsafe PQsetErrorVerbosity(handle, PQERRORS_SQLSTATE)
        let deadline = uptime() + PostgreSQLLimits.connect
        var state = PGRES_POLLING_WRITING
        guard unsafe PQstatus(handle) != CONNECTION_BAD else { throw connectError }
        while state != PGRES_POLLING_OK {
            switch state {
            case PGRES_POLLING_READING: try wait(POLLIN, until: deadline)
            case PGRES_POLLING_WRITING: try wait(POLLOUT, until: deadline)
            default: throw connectError
            }
            state = unsafe PQconnectPoll(handle)
        }
        guard unsafe PQsetnonblocking(handle, 1) == 0 else {
            throw SQLError(.lost, target: target)
        }
    }

    /// libpq has no code for a connection that failed: its text ends with the SQLSTATE when the
    /// server said one (`PQERRORS_SQLSTATE`), and names what went wrong with TLS.
    private var connectError: SQLError {
        let text = unsafe String(cString: PQerrorMessage(handle))
        let state = text.split(whereSeparator: \.isWhitespace).last.map(String.init) ?? ""
        if state.utf8.count == 5, state.utf8.allSatisfy({ $0.isDigitOrCapital }) {
            return SQLError(sqlState: state, target: target)
        }
        let isTLS = ["SSL", "certificate", "TLS"].contains { text.contains($0) }
        if text.contains("session is read-only") || text.contains("in hot standby mode") {
            return SQLError(.readOnly, target: target)
        }
        let isOurs = text.contains("no password supplied") || text.contains("authentication")
        return SQLError(
            isTLS ? .tls : isOurs ? .refused : .unreachable,
            target: target
        )
    }

    /// Where the statements of a session find ``MaskText/proofKey(_:)``.
    static let proofKeySetting = "expunged.proof_key"

    private func prepare(
        _ plan: PostgreSQLTargetPlan,
        proofKey: String
    ) throws(SQLError) {
        guard unsafe PQserverVersion(handle) >= PostgreSQLLimits.serverVersion else {
            throw SQLError(.failed, target: target)
        }
        // An empty search path: no function or operator of the application's stands in for one of
        // the server's (CVE-2018-1058). A commit is on disk when it is acknowledged, whatever suits
        // the application: rows that a crash of the server brings back would be called erased.
        _ = try query(
            """
            SELECT set_config('search_path', '', false),
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
                proofKey,
            ],
            within: PostgreSQLLimits.setUp
        )
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
        try perform(sql, within: limit) { send(sql, values) }
    }

    /// Runs a statement of a plan, which comes again for the next user: from the second time on the
    /// server has it parsed and planned.
    func planned(_ sql: String, _ values: [String?]) throws(SQLError) -> PostgreSQLRows {
        let name: String
        switch prepared.use(sql) {
        case .once: return try query(sql, values)
        case .prepare(let new):
            _ = try perform(sql) {
                unsafe PQsendPrepare(handle, new, sql, Int32(values.count), types(values)) == 1
            }
            prepared.keep(new, for: sql)
            name = new
        case .known(let known): name = known
        }
        do throws(SQLError) {
            return try perform(sql) { send(prepared: name, values) }
        } catch {
            // The columns of the table are others (0A000), or a pooler has handed us the session of
            // somebody else (26000).
            guard error.code == .state("0A000") || error.code == .state("26000") else {
                throw error
            }
            prepared.forget()
            throw SQLError(.schemaChanged, target: target, code: error.code)
        }
    }

    private func perform(
        _ sql: String,
        within limit: Duration? = nil,
        _ send: () -> Bool
    ) throws(SQLError) -> PostgreSQLRows {
        if let beforeStatement, !beforeStatement(sql) {
            throw SQLError(.lost, target: target)
        }
        let deadline = uptime() + (limit ?? configuration.statementTimeout) + PostgreSQLLimits.grace
        guard !isCancelled else { throw SQLError(.cancelled, target: target) }
        guard send() else { throw SQLError(.lost, target: target) }
        do {
            return try answer(until: deadline)
        } catch {
            if error.kind == .cancelled || error.kind == .timeout && error.code == .none {
                cancel()
            }
            throw error
        }
    }

    /// Each is text to the server, which the statement casts: nothing is left to guess.
    private func types(_ values: [String?]) -> [Oid] { [Oid](repeating: 25, count: values.count) }

    private func send(_ sql: String, _ values: [String?]) -> Bool {
        unsafe withTexts(values) { texts in
            let (count, types) = (Int32(values.count), types(values))
            return unsafe PQsendQueryParams(handle, sql, count, types, texts, nil, nil, 0)
        }
    }

    private func send(prepared name: String, _ values: [String?]) -> Bool {
        unsafe withTexts(values) { texts in
            let count = Int32(values.count)
            return unsafe PQsendQueryPrepared(handle, name, count, texts, nil, nil, 0)
        }
    }

    /// Hands on the values, and wipes the copy.
    private func withTexts(
        _ values: [String?],
        _ body: ([UnsafePointer<CChar>?]) -> Int32
    ) -> Bool {
        var bytes: [CChar] = []
        var places: [Int?] = []
        for value in values {
            places.append(value == nil ? nil : bytes.count)
            if let value { bytes.append(contentsOf: value.utf8CString) }
        }
        defer { for index in bytes.indices { bytes[index] = 0 } }
        return unsafe bytes.withUnsafeBufferPointer { buffer in
            let texts = unsafe places.map { place in
                unsafe place.flatMap { offset in
                    unsafe buffer.baseAddress.map { unsafe $0 + offset }
                }
            }
            return unsafe body(texts) == 1
        }
    }

    private func answer(until deadline: Duration) throws(SQLError) -> PostgreSQLRows {
        while unsafe PQflush(handle) == 1 {
            try wait(POLLIN | POLLOUT, until: deadline)
            _ = unsafe PQconsumeInput(handle)
        }
        var first: Result<PostgreSQLRows, SQLError>?
        while true {
            while unsafe PQisBusy(handle) == 1 {
                try wait(POLLIN, until: deadline)
                guard unsafe PQconsumeInput(handle) == 1 else {
                    throw SQLError(.lost, target: target)
                }
            }
            guard let result = unsafe PQgetResult(handle) else { break }
            defer { unsafe PQclear(result) }
            if first == nil { first = unsafe outcome(result) }
        }
        guard let first else { throw SQLError(.lost, target: target) }
        return try first.get()
    }

    private func outcome(_ result: OpaquePointer) -> Result<PostgreSQLRows, SQLError> {
        let status = unsafe PQresultStatus(result)
        guard status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK else {
            return .failure(unsafe SQLError(result, target: target))
        }
        let columns = unsafe 0..<PQnfields(result)
        let rows = unsafe (0..<PQntuples(result)).map { row in
            columns.map { column -> String? in
                guard unsafe PQgetisnull(result, row, column) == 0 else { return nil }
                return unsafe String(cString: PQgetvalue(result, row, column))
            }
        }
        let changed = unsafe Int(String(cString: PQcmdTuples(result))) ?? 0
        let types = columns.map { unsafe PQftype(result, $0) }
        return .success(PostgreSQLRows(rows: rows, types: types, changedCount: changed))
    }

    /// Waits for a notification of a channel that the session listens to.
    ///
    /// - Returns: `false` when none came in time.
    func awaitNotification(within time: Duration) throws(SQLError) -> Bool {
        let deadline = uptime() + time
        while true {
            guard unsafe PQconsumeInput(handle) == 1 else {
                throw SQLError(.lost, target: target)
            }
            var isNotified = false
            while let notification = unsafe PQnotifies(handle) {
                unsafe PQfreemem(notification)
                isNotified = true
            }
            if isNotified { return true }
            do throws(SQLError) {
                try wait(POLLIN, until: deadline)
            } catch {
                guard error.kind == .timeout else { throw error }
                return false
            }
        }
    }

    private var isCancelled: Bool {
        var entry = pollfd(fd: signal?.descriptor ?? -1, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, 0) > 0
    }

    /// Asks the server to stop, so that it does not work on for nobody.
    ///
    /// A connection of its own, as the protocol wants it; it blocks for as long as connecting
    /// takes, which `tcp_user_timeout` bounds.
    private func cancel() {
        guard let request = unsafe PQgetCancel(handle) else { return }
        var text = [CChar](repeating: 0, count: 256)
        _ = unsafe PQcancel(request, &text, Int32(text.count))
        unsafe PQfreeCancel(request)
    }

    private func wait(_ events: Int32, until deadline: Duration) throws(SQLError) {
        let socket = unsafe PQsocket(handle)
        guard socket >= 0 else { throw SQLError(.lost, target: target) }
        while true {
            let rest = deadline - uptime()
            guard rest > .zero else { throw SQLError(.timeout, target: target) }
            var entries = [
                pollfd(fd: socket, events: Int16(events), revents: 0),
                pollfd(fd: signal?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
            ]
            let count = unsafe poll(&entries, 2, Int32(clamping: rest.milliseconds + 1))
            if count < 0, errno != EINTR { throw SQLError(.lost, target: target) }
            if entries[1].revents != 0 { throw SQLError(.cancelled, target: target) }
            if entries[0].revents != 0 { return }
        }
    }
}

extension UInt8 {
    fileprivate var isDigitOrCapital: Bool {
        (0x30...0x39).contains(self) || (0x41...0x5a).contains(self)
    }
}
