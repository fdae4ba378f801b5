internal import CMariaDB
internal import Glibc
internal import Lifecycle
internal import PostgreSQL

/// What the library or the server said instead of an answer.
struct MySQLFailure {
    /// Below 2000 and from 3000 on the server's, between them the library's.
    let number: UInt32
    /// Quotes values; only names of the schema are taken from it.
    let message: String
}

/// A connection of libmariadb, whose calls wait only as `wait` says.
///
/// A call that was left in the middle spoils the connection.
@safe final class MySQLHandle {
    /// Waits for what a call asks for, in the library's flags, and answers what came.
    typealias Wait = (Int32) throws(SQLError) -> Int32

    private typealias Statement = UnsafeMutablePointer<MYSQL_STMT>

    /// A statement that the server knows, and the numbers of its parameters.
    @safe private struct Prepared {
        let statement: Statement
        let order: [Int]

        func close() { _ = unsafe mysql_stmt_close(statement) }
    }

    private let mysql: UnsafeMutablePointer<MYSQL>
    private let memory = LibraryMemory(byteCountMax: Int64(SQLLimits.libraryBytes))
    let store: StoreName
    private let database: String
    private var prepared: [String: Prepared] = [:]
    private var isMidway = false

    private static let library = mysql_server_init(0, nil, nil) == 0

    init(_ plan: MySQLStorePlan) throws(SQLError) {
        (store, database) = (plan.name, plan.database)
        guard Self.library, let mysql = unsafe mysql_init(nil) else {
            throw SQLError(.storage, store: plan.name)
        }
        unsafe self.mysql = mysql
    }

    deinit {
        // Nothing is said to a server that may not listen.
        if isMidway, socket >= 0 { _ = shutdown(socket, Int32(SHUT_RDWR)) }
        unsafe mysql_close(mysql)
        for entry in prepared.values { entry.close() }
    }

    var socket: Int32 { unsafe mysql_get_socket(mysql) }
    var connectionID: UInt { unsafe mysql_thread_id(mysql) }
    var version: Int { unsafe Int(mysql_get_server_version(mysql)) }
    var isMariaDB: Bool {
        unsafe String(cString: mysql_get_server_info(mysql)).contains("MariaDB")
    }

    // MARK: Connecting

    func connect(_ plan: MySQLStorePlan, _ wait: Wait) throws(SQLError) {
        setOptions(plan)
        let texts = unsafe [plan.place.host, plan.username, plan.database, plan.place.socket]
            .map { text in unsafe text.flatMap { unsafe strdup($0) } }
        let password = unsafe Self.copy(plan.password)
        defer {
            for index in unsafe texts.indices { unsafe free(texts[index]) }
            unsafe explicit_bzero(password, strlen(password))
            unsafe free(password)
        }
        var connected: UnsafeMutablePointer<MYSQL>?
        try perform(wait) {
            unsafe mysql_real_connect_start(
                &connected,
                mysql,
                texts[0],
                texts[1],
                password,
                texts[2],
                UInt32(plan.place.port),
                texts[3],
                UInt(CLIENT_FOUND_ROWS)
            )
        } resume: { came in
            unsafe mysql_real_connect_cont(&connected, mysql, came)
        }
        guard unsafe connected != nil else { throw failure() }
    }

    private static func copy(_ secret: Secret?) -> UnsafeMutablePointer<CChar> {
        let bytes = secret?.withBytes { $0.prefix { $0 != 0 } } ?? []
        let copy = unsafe UnsafeMutablePointer<CChar>(strdup(""))
        guard !bytes.isEmpty else { return unsafe copy.unsafelyUnwrapped }
        unsafe free(copy)
        let text = unsafe malloc(bytes.count + 1).unsafelyUnwrapped
            .assumingMemoryBound(to: CChar.self)
        for (index, byte) in bytes.enumerated() { unsafe text[index] = CChar(bitPattern: byte) }
        unsafe text[bytes.count] = 0
        return unsafe text
    }

    private func setOptions(_ plan: MySQLStorePlan) {
        let isEncrypted = plan.tls != .off && plan.place.host != nil
        set(MYSQL_OPT_NONBLOCK, Int(MySQLLimits.stackBytes))
        // A server could otherwise ask for any file that we can read.
        set(MYSQL_OPT_LOCAL_INFILE, UInt32(0))
        set(
            MYSQL_OPT_PROTOCOL,
            plan.place.host == nil ? MYSQL_PROTOCOL_SOCKET.rawValue : MYSQL_PROTOCOL_TCP.rawValue
        )
        set(MYSQL_SET_CHARSET_NAME, text: "utf8mb4")
        // The password never goes to a server as it is.
        set(MARIADB_OPT_RESTRICTED_AUTH, text: Self.authentication)
        set(MYSQL_OPT_SSL_ENFORCE, my_bool(isEncrypted ? 1 : 0))
        set(MYSQL_OPT_SSL_VERIFY_SERVER_CERT, my_bool(isEncrypted ? 1 : 0))
        _ = unsafe mysql_options4(mysql, MYSQL_OPT_CONNECT_ATTR_ADD, "program_name", "expunged")
        guard isEncrypted else { return }
        set(MYSQL_OPT_SSL_CA, text: plan.caFile ?? MySQLStorePlan.systemAuthorities)
        set(MARIADB_OPT_TLS_VERSION, text: "TLSv1.2,TLSv1.3")
    }

    private static let authentication =
        "mysql_native_password,caching_sha2_password,sha256_password,client_ed25519,parsec"

    private func set<Value: BitwiseCopyable>(_ option: mysql_option, _ value: Value) {
        var value = value
        _ = unsafe mysql_options(mysql, option, &value)
    }

    private func set(_ option: mysql_option, text: String) {
        _ = unsafe mysql_options(mysql, option, text)
    }

    // MARK: Statements

    /// Runs a statement without parameters and rows.
    func run(_ sql: String, _ wait: Wait) throws(SQLError) {
        let text = Array(sql.utf8CString)
        var code: Int32 = 0
        try perform(wait) {
            unsafe mysql_real_query_start(&code, mysql, text, UInt(text.count - 1))
        } resume: { came in
            unsafe mysql_real_query_cont(&code, mysql, came)
        }
        guard code == 0 else { throw failure() }
    }

    /// Runs a statement with numbered parameters.
    func query(
        _ sql: String,
        _ values: [MySQLValue],
        _ wait: Wait
    ) throws(SQLError) -> MySQLRows {
        let known = try prepare(sql, wait)
        let (statement, order) = unsafe (known.statement, known.order)
        let parameters = MySQLParameters(order.map { $0 < values.count ? values[$0] : .null })
        var code: Int32 = 0
        guard unsafe order.isEmpty || parameters.bind(statement) else {
            throw unsafe failure(statement)
        }
        try perform(wait) {
            unsafe mysql_stmt_execute_start(&code, statement)
        } resume: { came in
            unsafe mysql_stmt_execute_cont(&code, statement, came)
        }
        guard code == 0 else { throw unsafe failure(statement) }
        let columns = unsafe Int(mysql_stmt_field_count(statement))
        guard columns > 0 else {
            let changed = unsafe mysql_stmt_affected_rows(statement)
            return MySQLRows(rows: [], changedCount: Int(clamping: changed))
        }
        let rows = try unsafe read(statement, columns: columns, wait)
        _ = unsafe mysql_stmt_free_result(statement)
        return MySQLRows(rows: rows, changedCount: 0)
    }

    private func prepare(
        _ sql: String,
        _ wait: Wait
    ) throws(SQLError) -> Prepared {
        if let known = prepared[sql] { return known }
        if prepared.count >= MySQLLimits.statements {
            for entry in prepared.values { close(entry) }
            prepared = [:]
        }
        let text = MySQLStatementText(sql)
        let bytes = Array(text.sql.utf8CString)
        guard let statement = unsafe mysql_stmt_init(mysql) else {
            throw SQLError(.storage, store: store)
        }
        // Known from here on, so that the end of the session frees it.
        let new = unsafe Prepared(statement: statement, order: text.order)
        prepared[sql] = new
        var code: Int32 = 0
        try perform(wait) {
            unsafe mysql_stmt_prepare_start(&code, statement, bytes, UInt(bytes.count - 1))
        } resume: { came in
            unsafe mysql_stmt_prepare_cont(&code, statement, came)
        }
        guard code == 0 else {
            let error = unsafe failure(statement)
            prepared[sql] = nil
            close(new)
            throw error
        }
        return new
    }

    /// Gives back what the library counts for it.
    private func close(_ entry: Prepared) {
        memory.counting { entry.close() }
    }

    /// Reads row by row: whoever stops before the end has a connection with rows in it.
    private func read(
        _ statement: Statement,
        columns: Int,
        _ wait: Wait
    ) throws(SQLError) -> [[MySQLValue]] {
        let buffer = MySQLRowBuffer(columns: columns)
        guard unsafe buffer.bind(statement),
            let fields = unsafe mariadb_stmt_fetch_fields(statement)
        else { throw unsafe failure(statement) }
        let types = (0..<columns).map { unsafe MySQLFieldType(fields[$0]) }
        var rows: [[MySQLValue]] = []
        var (size, code) = (0, Int32(0))
        while true {
            try perform(wait) {
                unsafe mysql_stmt_fetch_start(&code, statement)
            } resume: { came in
                unsafe mysql_stmt_fetch_cont(&code, statement, came)
            }
            if code == MYSQL_NO_DATA { return rows }
            // The library keeps this error with the connection.
            guard code == 0 || code == MYSQL_DATA_TRUNCATED else { throw failure() }
            isMidway = true
            try SQLLimits.add(rowOf: columns, bytes: buffer.byteCount, to: &size, of: store)
            isMidway = false
            rows.append(
                types.enumerated().map { column, type in
                    unsafe buffer.value(column, of: statement).map(type.value) ?? .null
                }
            )
        }
    }

    // MARK: Waiting and failing

    private func perform(
        _ wait: Wait,
        begin: () -> Int32,
        resume: (Int32) -> Int32
    ) throws(SQLError) {
        guard !isMidway else { throw SQLError(.lost, store: store) }
        isMidway = true
        var awaited = memory.counting(begin)
        while awaited != 0 {
            let came = try wait(awaited)
            awaited = memory.counting { resume(came) }
        }
        guard !memory.isFull else { throw SQLError(.oversized, store: store) }
        isMidway = false
    }

    private func failure() -> SQLError {
        let failure = unsafe MySQLFailure(
            number: mysql_errno(mysql),
            message: String(cString: mysql_error(mysql))
        )
        return SQLError(failure, store: store, database: database)
    }

    private func failure(_ statement: Statement) -> SQLError {
        let failure = unsafe MySQLFailure(
            number: mysql_stmt_errno(statement),
            message: String(cString: mysql_stmt_error(statement))
        )
        return SQLError(failure, store: store, database: database)
    }
}

/// How the text of a column's value is read.
enum MySQLFieldType {
    case integer, decimal, text, blob

    /// The name of a column whose bytes are a text, which the server calls bytes so that it
    /// compares them as such.
    static let textName = "text"

    init(_ field: MYSQL_FIELD) {
        // The set of characters that bytes have (MySQL 8.0, C API, `MYSQL_FIELD`).
        let isBinary = unsafe field.charsetnr == 63
        switch unsafe field.type {
        case MYSQL_TYPE_TINY, MYSQL_TYPE_SHORT, MYSQL_TYPE_INT24, MYSQL_TYPE_LONG,
            MYSQL_TYPE_LONGLONG, MYSQL_TYPE_YEAR:
            self = .integer
        case MYSQL_TYPE_DECIMAL, MYSQL_TYPE_NEWDECIMAL, MYSQL_TYPE_FLOAT, MYSQL_TYPE_DOUBLE:
            self = .decimal
        case MYSQL_TYPE_STRING, MYSQL_TYPE_VAR_STRING, MYSQL_TYPE_VARCHAR, MYSQL_TYPE_BLOB,
            MYSQL_TYPE_TINY_BLOB, MYSQL_TYPE_MEDIUM_BLOB, MYSQL_TYPE_LONG_BLOB, MYSQL_TYPE_BIT:
            let isText = unsafe String(cString: field.name) == Self.textName
            self = isBinary && !isText ? .blob : .text
        default: self = .text
        }
    }

    func value(_ bytes: [UInt8]) -> MySQLValue {
        switch self {
        case .integer:
            Int64(String(decoding: bytes, as: UTF8.self)).map { .integer($0) } ?? .decimal(bytes)
        case .decimal: .decimal(bytes)
        case .text: .text(bytes)
        case .blob: .blob(bytes)
        }
    }
}
