import CMariaDB
import Synchronization

/// Connections of libmariadb, on which what the application does is run: several statements each.
///
/// A program for each would take longer than most of what is run.
final class MySQLClients: Sendable {
    private let socket: String
    /// Addresses of connections that nobody uses.
    private let idle = Mutex<[UInt]>([])

    init(socket: String) { self.socket = socket }

    deinit {
        for address in idle.withLock({ $0 }) {
            unsafe mysql_close(UnsafeMutablePointer(bitPattern: address))
        }
    }

    /// Answers rows as text, columns parted by `|`.
    func run(_ sql: String, in database: String) throws -> [String] {
        let connection = try unsafe take()
        var isUsable = false
        defer { if !isUsable { unsafe mysql_close(connection) } }
        guard unsafe mysql_select_db(connection, database) == 0 else {
            throw unsafe Self.failure(connection)
        }
        let rows = try unsafe Self.rows(of: sql, on: connection)
        // As a new one would be.
        guard unsafe mysql_reset_connection(connection) == 0,
            unsafe mysql_set_character_set(connection, "utf8mb4") == 0
        else { throw unsafe Self.failure(connection) }
        isUsable = true
        idle.withLock { $0.append(UInt(bitPattern: connection)) }
        return rows
    }

    private func take() throws -> UnsafeMutablePointer<MYSQL>? {
        if let address = idle.withLock({ $0.popLast() }) {
            return unsafe UnsafeMutablePointer(bitPattern: address)
        }
        let connection = unsafe mysql_init(nil)
        _ = unsafe mysql_options(connection, MYSQL_SET_CHARSET_NAME, "utf8mb4")
        let flags = UInt(CLIENT_MULTI_STATEMENTS)
        let opened = unsafe mysql_real_connect(
            connection,
            nil,
            "root",
            nil,
            nil,
            0,
            socket,
            flags
        )
        guard unsafe opened != nil else {
            defer { unsafe mysql_close(connection) }
            throw unsafe Self.failure(connection)
        }
        return unsafe connection
    }

    private static func failure(_ connection: UnsafeMutablePointer<MYSQL>?) -> ServerFailure {
        ServerFailure(text: unsafe String(cString: mysql_error(connection)))
    }

    private static func rows(
        of sql: String,
        on connection: UnsafeMutablePointer<MYSQL>?
    ) throws -> [String] {
        let bytes = Array(sql.utf8CString)
        guard unsafe mysql_real_query(connection, bytes, UInt(bytes.count - 1)) == 0 else {
            throw unsafe failure(connection)
        }
        var rows: [String] = []
        var next: Int32 = 0
        while next == 0 {
            if let result = unsafe mysql_store_result(connection) {
                defer { unsafe mysql_free_result(result) }
                unsafe rows += read(result)
            } else if unsafe mysql_field_count(connection) != 0 {
                throw unsafe failure(connection)
            }
            next = unsafe mysql_next_result(connection)
        }
        // -1 without an error: there is none.
        guard next < 0, unsafe mysql_errno(connection) == 0 else {
            throw unsafe failure(connection)
        }
        return rows.joined(separator: "\n").split(separator: "\n").map(String.init)
    }

    private static func read(_ result: UnsafeMutablePointer<MYSQL_RES>) -> [String] {
        var rows: [String] = []
        let columns = unsafe Int(mysql_num_fields(result))
        while let row = unsafe mysql_fetch_row(result),
            let lengths = unsafe mysql_fetch_lengths(result)
        {
            let cells = (0..<columns).map { column in
                guard let value = unsafe row[column] else { return "NULL" }
                let bytes = unsafe UnsafeRawBufferPointer(
                    start: value,
                    count: Int(lengths[column])
                )
                return unsafe String(decoding: bytes, as: UTF8.self).replacing("\t", with: "|")
            }
            rows.append(cells.joined(separator: "|"))
        }
        return rows
    }
}
