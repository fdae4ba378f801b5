/// The statements of PostgreSQL that change one user's rows of a table.
struct PostgreSQLWork: Sendable {
    /// Works on one chunk; `nil` for kept rows, and for masks that the service computes.
    let chunkSQL: String?
    /// Counts rows that this passes over; `nil` where the work waits for locks, or there is none.
    let lockedSQL: String?
    /// Rows of a chunk for ``maskSQL``: how many there are, and of the first ones, as many as fit
    /// ``PostgreSQLLimits/maskBytes``, the table, the place and the values to be masked.
    let selectSQL: String?
    /// Sets values that the service computed; its parameters are arrays: tables, places, one for
    /// each of ``computed``.
    let maskSQL: String
    let computed: [ColumnMask]
}

extension PostgreSQLDialect {
    static func work(_ rows: RowConditions) -> PostgreSQLWork {
        let name = rows.table.reference
        let order = rows.isSelfReferencing ? " ORDER BY \(name).ctid DESC" : ""
        let lock = rows.table.canLock ? " FOR UPDATE SKIP LOCKED" : ""
        let only = rows.table.hasParts ? "" : "ONLY "
        let chunk = "FROM \(only)\(name) WHERE \(rows.work)\(order) LIMIT \(limit)\(lock)"
        let counted = { (lock: String) in
            "(SELECT count(*) FROM (SELECT 1 FROM \(only)\(name) WHERE \(rows.work)"
                + " LIMIT \(SQLLimits.remainingRows)\(lock)) AS q)"
        }
        let arrays = rows.computed.indices.map { ", $\($0 + 3)::text[]" }.joined()
        let aliases = rows.computed.indices.map { ", m\($0)" }.joined()
        let assignments = rows.assignments ?? ""
        let verb: String? =
            switch rows.rule.action {
            case .keep, .cascade: nil
            case .delete: "DELETE FROM \(only)\(name)"
            case .anonymize:
                rows.computed.isEmpty ? "UPDATE \(only)\(name) SET \(assignments)" : nil
            }
        return PostgreSQLWork(
            chunkSQL: verb.map { verb in
                let keys = rows.releases.map(\.key).joined(separator: ", ")
                let sql =
                    rows.table.hasParts
                    ? changeOfParts(verb, chunk, of: name, rows.match)
                    : change(verb, chunk, of: name, rows.match)
                return sql + (keys.isEmpty ? "" : " RETURNING " + keys)
            },
            lockedSQL: lock.isEmpty || !rows.rule.action.changesRows
                ? nil : "SELECT \(counted("")) - \(counted(lock))",
            selectSQL: rows.computed.isEmpty ? nil : select(rows.computed, from: chunk, of: name),
            maskSQL: """
                UPDATE \(name) SET \(assignments) \
                FROM unnest($1::oid[], $2::tid[]\(arrays)) AS v(o, i\(aliases)) \
                WHERE \(name).tableoid = v.o AND \(name).ctid = v.i\(asApplication)
                """,
            computed: rows.computed
        )
    }

    /// Always true, and sets the application's search path, which its triggers may need, before the
    /// first row changes: by then the names in the statement itself are resolved without it.
    ///
    /// Without the setting, behind a pooler, it is the path of the role.
    static let asApplication = """
         AND (SELECT pg_catalog.set_config('search_path', \
        pg_catalog.current_setting('\(PostgreSQLSession.pathSetting)', true), true)) IS NOT NULL
        """

    static func statements(of work: PostgreSQLWork) -> [String] {
        [work.chunkSQL, work.selectSQL].compactMap(\.self)
    }

    /// Rows are read by place, whatever index there is for the match: by that, all of the user's
    /// rows would be compared with each place.
    private static func change(
        _ verb: String,
        _ chunk: String,
        of name: String,
        _ match: String
    ) -> String {
        """
        \(verb) WHERE \(name).ctid = ANY (ARRAY(SELECT \(name).ctid \(chunk))) \
        AND (\(match)) IS TRUE\(asApplication)
        """
    }

    /// The same where partitions and inheriting tables number their rows each for itself.
    ///
    /// The table belongs to the place. By itself the last condition would be a join, which compares
    /// each row with each place; the array has rows read by place.
    private static func changeOfParts(
        _ verb: String,
        _ chunk: String,
        of name: String,
        _ match: String
    ) -> String {
        """
        WITH v AS MATERIALIZED (SELECT \(name).tableoid AS o, \(name).ctid AS i \(chunk)) \
        \(verb) WHERE \(name).ctid = ANY (ARRAY(SELECT i FROM v)) \
        AND (\(match) AND (\(name).tableoid, \(name).ctid) IN (SELECT o, i FROM v)) IS TRUE\
        \(asApplication)
        """
    }

    /// Sizes are known without the values, which stay in their places until they are sent.
    private static func select(
        _ masks: [ColumnMask],
        from chunk: String,
        of name: String
    ) -> String {
        let values = masks.enumerated().map { index, mask in
            let column = column(mask.column, of: name)
            let value =
                mask.strategy == .random
                ? "CASE WHEN \(column) IS NOT NULL THEN '' END" : "\(column)::text"
            return ", \(value) AS m\(index)"
        }
        let names = masks.indices.map { ", m\($0)" }.joined()
        let sizes = masks.indices.map { " + coalesce(octet_length(m\($0)), 0)" }
        let size = "0::bigint" + sizes.joined()
        return """
            WITH v AS MATERIALIZED (SELECT \(name).tableoid AS o, \
            \(name).ctid AS i\(values.joined()) \(chunk)) \
            SELECT n, o, i\(names) FROM (SELECT count(*) OVER () AS n, o, i\(names), \
            sum(\(size)) OVER (ROWS UNBOUNDED PRECEDING) - (\(size)) AS sent FROM v) AS q \
            WHERE sent < \(PostgreSQLLimits.maskBytes)
            """
    }

    // MARK: Masks

    static func mask(
        _ mask: ColumnMask,
        in table: TableShape,
        computed: inout [ColumnMask]
    ) -> (value: String, test: String) {
        let column = column(mask.column, of: table.reference)
        switch mask.strategy {
        case .null: return (value: "NULL", test: "\(column) IS NULL")
        case .text(let text):
            let literal = literal(text)
            return (value: literal, test: "\(column) IS NOT DISTINCT FROM \(literal)")
        case .integer(let number):
            return (value: "\(number)", test: "\(column) IS NOT DISTINCT FROM \(number)")
        case .hash, .random:
            defer { computed.append(mask) }
            let test = "(\(column) IS NULL OR \(isMask("\(column)::text")))"
            return (value: "v.m\(computed.count)", test: test)
        case .truncate(let length): return cut(column, at: length)
        // Only of a part, which the check sees to.
        case .remove: return (value: column, test: "true")
        }
    }

    /// As ``MaskText/isMask(_:key:)``; the session knows the key.
    ///
    /// The length alone is known without reading a long value.
    private static func isMask(_ text: String) -> String {
        let body = "substr(\(text), \(MaskText.marker.count + 1), \(MaskText.bodyBytes * 2))"
        let key = "current_setting('\(PostgreSQLSession.proofKeySetting)')"
        let proof = "encode(sha256(convert_to(\(key) || \(body), 'UTF8')), 'hex')"
        return "(octet_length(\(text)) = \(MaskText.length)"
            + " AND \(text) ~ '^\(MaskText.marker)[0-9a-f]{32}$'"
            + " AND right(\(text), \(MaskText.tagBytes * 2))"
            + " = left(\(proof), \(MaskText.tagBytes * 2)))"
    }

    /// A text that was whole ends otherwise, or loses nothing but this end when it is cut.
    private static func cut(_ column: String, at length: Int) -> (value: String, test: String) {
        let text = "\(column)::text"
        let end = "'\(MaskText.cut)'"
        let kept =
            "CASE WHEN char_length(\(text)) > \(length) THEN left(\(text), \(length)) ELSE '' END"
        return (
            value: "CASE WHEN \(column) IS NOT NULL THEN \(kept) || \(end) END",
            test: "(\(column) IS NULL OR \(text) IN ('', \(end))"
                + " OR (char_length(\(text)) = \(length + 1) AND right(\(text), 1) = \(end)))"
        )
    }
}
