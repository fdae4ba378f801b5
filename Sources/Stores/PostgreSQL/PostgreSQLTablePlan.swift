internal import Lifecycle

/// One rule, compiled to the statements that carry it out.
///
/// Parameters are texts: 1 is the user id, 2 the cutoff as Unix time in milliseconds, 3 the rows of
/// a chunk.
struct PostgreSQLTablePlan: Sendable {
    let rule: TableRule
    /// The receipt's name.
    let table: String
    /// Rows that want work (or are kept), newer ones among them, undated ones that are not newer.
    let countSQL: String
    /// The same of all rows, for a plan.
    let planSQL: String
    /// Works on one chunk; `nil` for kept rows, and for masks that we compute.
    let chunkSQL: String?
    /// Rows of a chunk for ``maskSQL``: how many there are, and of the first ones, as many as fit
    /// ``PostgreSQLLimits/maskBytes``, the table, the place and the values to be masked.
    let selectSQL: String
    /// Sets values that we computed; its parameters are arrays: tables, places, one for each of
    /// ``computed``.
    let maskSQL: String
    /// The columns whose masks the server cannot compute: the hash key stays here.
    let computed: [ColumnMask]
    /// What is left, asked in another form than the work; `nil` for kept rows.
    let remainingSQL: String?
    /// Rows whose id the column takes for equal though its bytes differ; `nil` where none can be.
    let nonCanonicalSQL: String?
    /// Rows that hold the bytes of the id as it was submitted; `nil` where none can.
    let literalSQL: String?
    /// Rows dated later than the time in the cutoff's place; `nil` where nothing is dated or all
    /// are
    /// kept.
    let futureSQL: String?
    /// Rows that want work and stay under a hold; `nil` without one.
    let heldSQL: String?
    /// Goes through the users of the table.
    let users: PostgreSQLUserScan

    /// Compiles a rule that has been checked against `shape`.
    init(
        rule: TableRule,
        shape: PostgreSQLTable,
        cutoff: String?,
        hold: String?,
        isSelfReferencing: Bool
    ) {
        self.rule = rule
        users = PostgreSQLUserScan(rule: rule, shape: shape)
        table = shape.name
        let name = shape.reference
        let masks = PostgreSQLMasks(rule, of: name)
        computed = masks.computed
        let match = Self.match(rule, shape)
        let wanted = masks.isMasked.map { " AND NOT (\($0))" } ?? ""
        let todo = wanted + (hold.map { " AND NOT \($0)" } ?? "")
        let open = cutoff.map { " AND NOT \($0)" } ?? ""
        let undated =
            rule.creation.map { "\(name).\(PostgreSQLDialect.quote($0.column)) IS NULL" } ?? "false"
        countSQL = """
            SELECT count(*), count(*) FILTER (WHERE f), count(*) FILTER (WHERE u AND NOT f) FROM \
            (SELECT \(cutoff ?? "false") AS f, \(undated) AS u FROM \(name) WHERE \(match)\(todo) \
            LIMIT \(PostgreSQLLimits.countRows + 1)) AS q
            """
        planSQL = """
            SELECT count(*), count(*) FILTER (WHERE f), count(*) FILTER (WHERE u AND NOT f) FROM \
            (SELECT \(cutoff ?? "false") AS f, \(undated) AS u FROM \(name) \
            WHERE \(match)\(todo)) AS q
            """
        let order = isSelfReferencing ? " ORDER BY \(name).ctid DESC" : ""
        let lock = shape.canLock ? " FOR UPDATE SKIP LOCKED" : ""
        let chunk =
            "FROM \(name) WHERE \(match)\(todo)\(open)\(order)"
            + " LIMIT $3::bigint\(lock)"
        switch rule.action {
        case .keep: chunkSQL = nil
        case .delete: chunkSQL = Self.work("DELETE FROM \(name)", on: chunk, of: name, match)
        case .anonymize:
            let verb = "UPDATE \(name) SET \(masks.assignments)"
            chunkSQL = computed.isEmpty ? Self.work(verb, on: chunk, of: name, match) : nil
        }
        selectSQL = Self.select(computed, from: chunk, of: name)
        let arrays = computed.indices.map { ", $\($0 + 3)::text[]" }.joined()
        let aliases = computed.indices.map { ", m\($0)" }.joined()
        maskSQL = """
            UPDATE \(name) SET \(masks.assignments) \
            FROM unnest($1::oid[], $2::tid[]\(arrays)) AS v(o, i\(aliases)) \
            WHERE \(name).tableoid = v.o AND \(name).ctid = v.i
            """
        let some = { (condition: String) in
            """
            SELECT count(*) FROM (SELECT 1 FROM \(name) WHERE \(condition) \
            LIMIT \(PostgreSQLLimits.remainingRows)) AS q
            """
        }
        heldSQL = hold.map { some("\(match)\(wanted)\(open) AND \($0)") }
        remainingSQL =
            rule.action == .keep ? nil : some("\(Self.check(rule, shape))\(todo)\(open)")
        nonCanonicalSQL = Self.nonCanonical(rule, shape).map { some("\($0)\(todo)\(open)") }
        let column = "\(name).\(PostgreSQLDialect.quote(rule.column))"
        literalSQL =
            rule.action == .keep || rule.idType != .blob
            ? nil : some("\(column) = convert_to($1, 'UTF8')\(todo)\(open)")
        futureSQL =
            rule.action == .keep
            ? nil
            : rule.creation.map {
                some("\(match)\(todo) AND \(PostgreSQLDialect.isLater($0, in: shape))")
            }
    }

    /// Partitions and inheriting tables number their rows each for itself, so the table belongs to
    /// the place; the array has rows read by place, without a look at all of the user's.
    private static func work(
        _ verb: String,
        on chunk: String,
        of name: String,
        _ match: String
    ) -> String {
        """
        WITH v AS MATERIALIZED (SELECT \(name).tableoid AS o, \(name).ctid AS i \(chunk)) \
        \(verb) WHERE \(match) AND \(name).ctid = ANY (ARRAY(SELECT i FROM v)) \
        AND (\(name).tableoid, \(name).ctid) IN (SELECT o, i FROM v)
        """
    }

    /// Sizes are known without the values, which stay in their places until they are sent.
    private static func select(
        _ masks: [ColumnMask],
        from chunk: String,
        of name: String
    ) -> String {
        let values = masks.enumerated().map { index, mask in
            let column = "\(name).\(PostgreSQLDialect.quote(mask.column))"
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

    /// Statements to be tried at the check, with the number of their parameters.
    var samples: [(sql: String, parameterCount: Int)] {
        var samples = [countSQL, planSQL].map { (sql: $0, parameterCount: 2) }
        if let chunkSQL { samples.append((sql: chunkSQL, parameterCount: 3)) }
        if rule.action != .keep, !computed.isEmpty {
            samples.append((sql: selectSQL, parameterCount: 3))
        }
        if let heldSQL { samples.append((sql: heldSQL, parameterCount: 2)) }
        for sql in [remainingSQL, nonCanonicalSQL, literalSQL, futureSQL].compactMap(\.self) {
            samples.append((sql: sql, parameterCount: 2))
        }
        return samples
    }

    /// Finds the user's rows: by index whatever the collation, then byte for byte.
    static func match(_ rule: TableRule, _ shape: PostgreSQLTable) -> String {
        let column = "\(shape.reference).\(PostgreSQLDialect.quote(rule.column))"
        guard let found = shape.column(rule.column) else { return "false" }
        switch rule.idType {
        case .integer: return "\(column) = $1::bigint"
        case .uuid: return "\(column) = $1::uuid"
        case .blob: return "\(column) = decode($1, 'hex')"
        case .text:
            guard !isExact(found) else { return "\(column) = $1" }
            return "\(isEqual(column, found)) AND \(column)::text COLLATE pg_catalog.\"C\" = $1"
        }
    }

    /// Finds rows that are passed over though the database takes their id for equal.
    private static func nonCanonical(_ rule: TableRule, _ shape: PostgreSQLTable) -> String? {
        let column = "\(shape.reference).\(PostgreSQLDialect.quote(rule.column))"
        guard rule.action != .keep, rule.idType == .text, let found = shape.column(rule.column),
            !isExact(found)
        else { return nil }
        return "\(isEqual(column, found)) AND \(column)::text COLLATE pg_catalog.\"C\" <> $1"
    }

    /// Equal texts have equal bytes.
    private static func isExact(_ column: PostgreSQLColumn) -> Bool {
        column.type != "citext" && column.isDeterministic
    }

    /// As the column compares.
    private static func isEqual(_ column: String, _ found: PostgreSQLColumn) -> String {
        guard found.type == "citext" else { return "\(column) = $1" }
        // Its operator is not in the search path, and without it no index would be used.
        let schema = PostgreSQLDialect.quote(found.typeSchema)
        return "\(column) OPERATOR(\(schema).=) $1::\(schema).citext"
    }

    /// Finds them again: candidates through a list, then by their text.
    private static func check(_ rule: TableRule, _ shape: PostgreSQLTable) -> String {
        let column = "\(shape.reference).\(PostgreSQLDialect.quote(rule.column))"
        switch rule.idType {
        case .integer: return "\(column) = ANY (ARRAY[$1::bigint]) AND \(column)::text = $1"
        case .uuid: return "\(column) = ANY (ARRAY[$1::uuid]) AND \(column)::text = $1"
        case .blob:
            return "\(column) = ANY (ARRAY[decode($1, 'hex')]) AND encode(\(column), 'hex') = $1"
        case .text:
            let bytes = "convert_to(\(column)::text, 'UTF8') = convert_to($1, 'UTF8')"
            guard shape.column(rule.column)?.type == "citext" else {
                return "\(column) = ANY (ARRAY[$1]) AND \(bytes)"
            }
            return "\(match(rule, shape)) AND \(bytes)"
        }
    }
}

/// The SQL of anonymization: how a column is masked, and how a masked one is recognised.
struct PostgreSQLMasks {
    /// The part behind SET.
    private(set) var assignments = ""
    /// True when every column of a row is masked; `nil` when the rule masks nothing.
    private(set) var isMasked: String?
    /// Those whose values come from us, in the order of the parameters.
    private(set) var computed: [ColumnMask] = []

    init(_ rule: TableRule, of table: String) {
        guard case .anonymize(let masks) = rule.action else { return }
        for mask in masks { add(mask, table) }
    }

    private mutating func add(_ mask: ColumnMask, _ table: String) {
        let name = PostgreSQLDialect.quote(mask.column)
        let column = "\(table).\(name)"
        let value: String
        let test: String
        switch mask.strategy {
        case .null: (value, test) = ("NULL", "\(column) IS NULL")
        case .text(let text):
            let literal = PostgreSQLDialect.literal(text)
            (value, test) = (literal, "\(column) IS NOT DISTINCT FROM \(literal)")
        case .integer(let number):
            (value, test) = ("\(number)", "\(column) IS NOT DISTINCT FROM \(number)")
        case .hash, .random:
            value = "v.m\(computed.count)"
            computed.append(mask)
            test = "(\(column) IS NULL OR \(Self.isMask("\(column)::text")))"
        case .truncate(let length):
            (value, test) = Self.cut(column, at: length)
        }
        assignments += (assignments.isEmpty ? "" : ", ") + "\(name) = \(value)"
        isMasked = (isMasked.map { $0 + " AND " } ?? "") + test
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
