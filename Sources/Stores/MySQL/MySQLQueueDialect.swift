import Engine

/// The tables `expunged_…` of the database, at MySQL 8 or MariaDB.
enum MySQLQueueDialect: QueueDialect {
    static let meta = "SELECT CAST(version AS CHAR), queue_id FROM expunged_meta LIMIT 2"
    static let columns = """
        SELECT substr(c.table_name, 10), c.column_name, c.data_type
        FROM information_schema.columns c JOIN information_schema.tables t
            ON t.table_schema = c.table_schema AND t.table_name = c.table_name
        WHERE c.table_schema = DATABASE() AND t.engine = 'InnoDB'
            AND c.table_name IN ('expunged_requests', 'expunged_credentials')
        """
    /// Triggers run with the rights of their own user.
    static let foreign = """
        SELECT CAST(count(*) AS CHAR) FROM information_schema.triggers
        WHERE event_object_schema = DATABASE()
            AND event_object_table IN ('expunged_requests', 'expunged_credentials')
        """
    static let begin = "START TRANSACTION READ WRITE"
    static let listen: String? = nil
    static let textTypes: Set<String> = ["varchar", "text", "mediumtext", "longtext"]
    static let idType = "bigint"

    static func name(_ table: SpoolTable) -> String { "expunged_\(table.rawValue)" }

    static func text(_ column: String) -> String { "CAST(\(column) AS CHAR)" }

    static func page(_ table: SpoolTable) -> String {
        let bytes = "least(q.size, \(QueueServerLimits.rowBytes))"
        let columns =
            (["id", "state"] + table.inputColumns
            + (table == .requests ? ["request_id"] : [])).joined(separator: ", ")
        return """
            SELECT \(selection(table, size: "w.size")) FROM (
                SELECT q.*, sum(\(bytes)) OVER (ORDER BY q.id) - \(bytes) AS bytes_before FROM (
                    SELECT \(columns), \(size(table)) AS size FROM \(name(table))
                    WHERE state = 'submitted' AND id BETWEEN ?1 AND ?2
                    ORDER BY id LIMIT ?3) AS q) AS w
            WHERE w.bytes_before < \(QueueServerLimits.pageBytes) ORDER BY w.id
            """
    }

    static func lock(_ table: SpoolTable) -> String {
        """
        SELECT \(selection(table, size: "(\(size(table)))"))
        FROM JSON_TABLE(?1, '$[*]' COLUMNS (row_id BIGINT PATH '$')) AS v
        STRAIGHT_JOIN \(name(table)) AS r ON r.id = v.row_id ORDER BY r.id FOR UPDATE
        """
    }

    static func list(_ ids: [Int64]) -> String {
        "[" + ids.map { "\($0)" }.joined(separator: ",") + "]"
    }

    static let show = """
        UPDATE JSON_TABLE(?1, '$[*]' COLUMNS (row_id BIGINT PATH '$.id',
            request VARCHAR(64) PATH '$.request_id', shown VARCHAR(64) PATH '$.state',
            reason VARCHAR(255) PATH '$.detail', changed_at VARCHAR(64) PATH '$.updated_at',
            erased INT PATH '$.erased')) AS v
        STRAIGHT_JOIN expunged_requests AS r ON r.id = v.row_id
        SET r.request_id = v.request, r.state = v.shown, r.detail = v.reason,
            r.updated_at = coalesce(v.changed_at, r.updated_at),
            r.user_id = CASE v.erased WHEN 1 THEN concat('erased:', v.request) ELSE r.user_id END,
            r.idempotency_key = CASE v.erased WHEN 1 THEN NULL ELSE r.idempotency_key END,
            r.options = CASE v.erased WHEN 1 THEN '{}' ELSE r.options END
        """
    static let scrub = """
        UPDATE JSON_TABLE(?1, '$[*]' COLUMNS (row_id BIGINT PATH '$.id',
            shown VARCHAR(64) PATH '$.state', reason VARCHAR(255) PATH '$.detail')) AS v
        STRAIGHT_JOIN expunged_credentials AS r ON r.id = v.row_id
        SET r.secret = NULL, r.code_verifier = NULL, r.raw_nonce = NULL,
            r.user_id = concat(v.shown, ':', r.id), r.subject = NULL, r.redirect_uri = NULL,
            r.state = v.shown, r.detail = v.reason
        """
}

extension MySQLSession: QueueSession {
    typealias Queue = MySQLQueueDialect

    func texts(_ sql: String, _ values: [String?]) throws(SQLError) -> [[String?]] {
        // LIMIT takes numbers only.
        try query(
            sql,
            values.map { value in
                value.map { text in
                    Int64(text).map { .integer($0) } ?? .text(Array(text.utf8))
                } ?? .null
            }
        ).rows.map { $0.map(\.text) }
    }

    /// The server passes nothing on.
    func awaitNotification(within time: Duration) throws(SQLError) -> Bool { false }
}
