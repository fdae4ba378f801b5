import Engine

/// The tables of the schema `expunged`.
enum PostgreSQLQueueDialect: QueueDialect {
    static let meta = "SELECT version::text, queue_id::text FROM expunged.meta LIMIT 2"
    static let columns = """
        SELECT c.relname::text, a.attname::text, format_type(a.atttypid, NULL)
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = 'expunged' AND c.relkind = 'r'
            AND c.relname IN ('requests', 'credentials') AND a.attnum > 0 AND NOT a.attisdropped
        """
    /// Triggers run with the rights of the role that writes, which has no others.
    static let foreign = """
        SELECT ((SELECT count(*) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
            JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'expunged'
                AND c.relname IN ('requests', 'credentials') AND NOT t.tgisinternal
                AND t.tgname <> 'expunged_notify')
            + (SELECT count(*) FROM pg_rules WHERE schemaname = 'expunged'))::text
        """
    static let begin = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
    static let listen: String? = "LISTEN expunged"
    static let textTypes: Set<String> = ["text", "character varying"]
    static let idType = "bigint"

    static func name(_ table: SpoolTable) -> String { "expunged.\(table.rawValue)" }

    static func text(_ column: String) -> String { "\(column)::text" }

    static func page(_ table: SpoolTable) -> String {
        let bytes = "least(q.size, \(QueueServerLimits.rowBytes))"
        return """
            SELECT \(selection(table, size: "w.size")) FROM (
                SELECT q.*, sum(\(bytes)) OVER (ORDER BY q.id) - \(bytes) AS bytes_before FROM (
                    SELECT *, (\(size(table)))::bigint AS size FROM \(name(table))
                    WHERE state = 'submitted' AND id BETWEEN $1::bigint AND $2::bigint
                    ORDER BY id LIMIT $3::bigint) AS q) AS w
            WHERE w.bytes_before < \(QueueServerLimits.pageBytes) ORDER BY w.id
            """
    }

    static func lock(_ table: SpoolTable) -> String {
        """
        SELECT \(selection(table, size: "(\(size(table)))")) FROM \(name(table))
        WHERE id = ANY ($1::bigint[]) ORDER BY id FOR UPDATE
        """
    }

    static func list(_ ids: [Int64]) -> String {
        "{" + ids.map { "\($0)" }.joined(separator: ",") + "}"
    }

    static let show = """
        UPDATE expunged.requests AS r SET request_id = v.request_id, state = v.state,
            detail = v.detail, updated_at = coalesce(v.updated_at, r.updated_at),
            user_id = CASE v.erased WHEN 1 THEN 'erased:' || v.request_id ELSE r.user_id END,
            idempotency_key = CASE v.erased WHEN 1 THEN NULL ELSE r.idempotency_key END,
            options = CASE v.erased WHEN 1 THEN '{}' ELSE r.options END
        FROM json_to_recordset($1::json) AS v(id bigint, request_id text, state text, detail text,
            updated_at text, erased integer)
        WHERE r.id = v.id
        """
    static let scrub = """
        UPDATE expunged.credentials AS r SET secret = NULL, code_verifier = NULL, raw_nonce = NULL,
            user_id = v.state || ':' || r.id, subject = NULL, redirect_uri = NULL,
            state = v.state, detail = v.detail
        FROM json_to_recordset($1::json) AS v(id bigint, state text, detail text)
        WHERE r.id = v.id
        """
}

extension PostgreSQLSession: QueueSession {
    typealias Queue = PostgreSQLQueueDialect

    func texts(_ sql: String, _ values: [String?]) throws(SQLError) -> [[String?]] {
        try query(sql, values).rows
    }
}
