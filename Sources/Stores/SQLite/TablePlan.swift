/// One rule, compiled to the statements that carry it out.
struct TablePlan: Sendable {
    let rule: TableRule
    /// As the schema spells it; the receipt's name.
    let table: String
    /// What the receipt says, such as `delete, cutoff: none`.
    let action: String
    /// Rows that want work, newer ones, undated ones; counts up to one chunk and one row.
    let countSQL: String
    /// Works on all rows at once; only when ``countSQL`` saw no more than one chunk.
    let workSQL: String
    /// Works on one chunk.
    let chunkSQL: String
    /// The lowest row of the next chunk, for tables where worked rows do not leave the set.
    let cursorSQL: String?
    /// Newer rows, after all chunks.
    let newerSQL: String?
    /// What is left, asked in another form than the work; `nil` for kept rows.
    let remainingSQL: String?
    /// Rows in which the id is spelled otherwise, as the column's collation or a lenient program
    /// reads it; `nil` where there can be none.
    let nonCanonicalSQL: String?
    /// Rows that a comparison with the id as it was submitted finds; `nil` where ``match`` finds
    /// all.
    let literalSQL: String?
    /// Rows dated later than the horizon; `nil` where nothing is dated or all are kept.
    let futureSQL: String?
    /// Counts for a plan.
    let counting: CountSQL
    /// Counts what is left, for a verification in pieces; `nil` for kept rows.
    let checking: CountSQL?
    /// Rows that want work and stay under a hold; `nil` without one.
    let heldSQL: String?
    let constants: [BoundValue]
    /// Foreign keys that can keep its rows from going.
    let blockers: [ObstacleFinder.Blocker]
    /// Goes through the users of the table.
    let users: UserScan

    /// Compiles a rule that has been checked against `shape`.
    ///
    /// - Parameters:
    ///   - rule: What to do.
    ///   - shape: The live table.
    ///   - cutoff: The condition that protects a row, or `nil` when nothing does.
    ///   - hold: The condition that keeps a row while it is held, or `nil` when nothing does.
    ///   - referring: The foreign keys that can keep rows from going.
    ///   - isSelfReferencing: A foreign key of the table refers to itself: later rows, mostly the
    ///     children, go first.
    init(
        rule: TableRule,
        shape: TableShape,
        cutoff: String?,
        hold: String?,
        referring: [ReferringKey],
        isSelfReferencing: Bool
    ) {
        self.rule = rule
        users = UserScan(rule: rule, shape: shape)
        table = shape.name
        action = rule.receiptAction
        let table = CutoffSQL.quoted(shape.name)
        let masks: MaskSQL? =
            if case .anonymize(let columns) = rule.action {
                MaskSQL(columns, table: shape.name)
            } else {
                nil
            }
        constants = masks?.constants ?? []
        let match = Self.match(rule, shape)
        let wanted = masks.map { " AND NOT (\($0.isMasked))" } ?? ""
        let todo = wanted + (hold.map { " AND NOT \($0)" } ?? "")
        let open = cutoff.map { " AND NOT \($0)" } ?? ""
        let undated = rule.creation.map { CutoffSQL.isUndated($0, of: table) } ?? "0"
        let limit = rule.action == .keep ? "" : " LIMIT \(TargetLimits.chunkRows + 1)"
        countSQL = """
            SELECT count(*), sum(f), sum(u AND NOT f) FROM (SELECT \(cutoff ?? "0") AS f, \
            \(undated) AS u FROM \(table) WHERE \(match)\(todo)\(limit))
            """
        let verb = masks.map { "UPDATE \(table) SET \($0.assignments)" } ?? "DELETE FROM \(table)"
        let work = match + todo + open
        workSQL = "\(verb) WHERE \(work)"
        let key = Self.rowKey(shape)
        let hasCursor = masks != nil && shape.rowIDName != nil
        let isOrdered = hasCursor || (isSelfReferencing && shape.rowIDName != nil)
        let chunk =
            "FROM \(table) WHERE \(work)" + (hasCursor ? " AND \(key) < ?4" : "")
            + (isOrdered ? " ORDER BY \(key) DESC" : "") + " LIMIT ?5"
        chunkSQL = "\(verb) WHERE (\(key)) IN (SELECT \(key) \(chunk))"
        cursorSQL =
            hasCursor ? "SELECT min(k), count(*), 0 FROM (SELECT \(key) AS k \(chunk))" : nil
        newerSQL = cutoff.map { Self.count(in: table, where: "\(match)\(todo) AND \($0)") }
        counting = CountSQL(
            table,
            wanted: match + todo,
            times: (cutoff: cutoff, undated: undated),
            key: Self.rowKeys(shape),
            constantCount: constants.count
        )
        let check = Self.check(rule, shape)
        checking = Self.checking(rule, shape, check, todo + open, constants.count)
        heldSQL = hold.map { Self.count(in: table, where: "\(match)\(wanted)\(open) AND \($0)") }
        remainingSQL =
            rule.action == .keep
            ? nil : Self.count(in: table, where: check + todo + open)
        blockers = referring.map { key in
            let sql = Self.count(in: table, where: "\(work) AND \(key.condition)", limit: 1)
            return ObstacleFinder.Blocker(table: key.table, columns: key.columns, sql: sql)
        }
        nonCanonicalSQL = Self.nonCanonical(rule, shape).map {
            Self.count(in: table, where: "(\($0))\(todo)\(open)")
        }
        literalSQL = Self.literal(rule, shape).map {
            Self.count(in: table, where: "(\($0))\(todo)\(open)", limit: 1)
        }
        futureSQL = Self.future(rule, of: table).map {
            Self.count(in: table, where: "\(match) AND \($0)\(todo)", limit: 1)
        }
    }

    private static func checking(
        _ rule: TableRule,
        _ shape: TableShape,
        _ check: String,
        _ rest: String,
        _ constantCount: Int
    ) -> CountSQL? {
        guard rule.action != .keep else { return nil }
        return CountSQL(
            CutoffSQL.quoted(shape.name),
            wanted: check + rest,
            candidates: check,
            times: (cutoff: nil, undated: "0"),
            key: rowKeys(shape),
            constantCount: constantCount
        )
    }

    private static func future(_ rule: TableRule, of table: String) -> String? {
        guard rule.action != .keep else { return nil }
        return rule.creation.map { CutoffSQL.isBeyond($0, of: table) }
    }

    private static func count(
        in table: String,
        where condition: String,
        limit: Int = TargetLimits.remainingRows
    ) -> String {
        "SELECT count(*), 0, 0 FROM (SELECT 1 FROM \(table) WHERE \(condition) LIMIT \(limit))"
    }

    /// Finds the user's rows: by index whatever its collation, then byte for byte and by type.
    static func match(_ rule: TableRule, _ shape: TableShape) -> String {
        let column = "\(CutoffSQL.quoted(shape.name)).\(CutoffSQL.quoted(rule.column))"
        let isBinary = shape.column(rule.column)?.isBinary ?? false
        let exact = isBinary || rule.idType != .text ? "" : " AND \(column) = ?1 COLLATE BINARY"
        return "\(column) = ?1 AND \(isTyped(rule, column))\(exact)"
    }

    /// The storage class fits; of numbers both do, since 42.0 equals 42.
    static func isTyped(_ rule: TableRule, _ column: String) -> String {
        rule.idType == .integer
            ? "typeof(\(column)) IN ('integer', 'real')"
            : "typeof(\(column)) = '\(rule.idType.rawValue)'"
    }

    /// The SQL function that reads a value as an id.
    static let readingFunction = "expunged_is_read_as"

    /// Finds rows that are passed over and may be the user's, by ranges of an index.
    ///
    /// The storage classes sort as NULL, numbers, text, blobs (sqlite.org/datatype3.html, 4.1).
    private static func nonCanonical(_ rule: TableRule, _ shape: TableShape) -> String? {
        guard rule.action != .keep, let found = shape.column(rule.column) else { return nil }
        let column = "\(CutoffSQL.quoted(shape.name)).\(CutoffSQL.quoted(rule.column))"
        let isAnything = !shape.isStrict || found.declaredType.uppercased() == "ANY"
        let isRead = "\(readingFunction)(\(column), ?1)"
        var terms: [String] = []
        switch rule.idType {
        case .integer where isAnything: terms.append("(\(column) >= '' AND \(isRead))")
        case .blob where isAnything: terms.append("(\(column) < x'' AND \(isRead))")
        case .text:
            if isAnything { terms.append("(\(column) >= x'' AND \(isRead))") }
            if isAnything, found.affinity == .none {
                terms.append("(\(column) < '' AND \(isRead))")
            }
            if !found.isBinary {
                terms.append("(\(column) = ?1 AND \(column) <> ?1 COLLATE BINARY)")
            }
        case .integer, .blob, .uuid: break
        }
        return terms.isEmpty ? nil : terms.joined(separator: " OR ")
    }

    /// Finds what a program finds that compares with the id as it was submitted, also one that no
    /// column of this type should hold: `abc` in an INTEGER column.
    private static func literal(_ rule: TableRule, _ shape: TableShape) -> String? {
        guard rule.action != .keep, let found = shape.column(rule.column),
            !shape.isStrict || found.declaredType.uppercased() == "ANY"
        else { return nil }
        let column = "\(CutoffSQL.quoted(shape.name)).\(CutoffSQL.quoted(rule.column))"
        let text = "CAST(\(column) AS TEXT) = ?1"
        return switch rule.idType {
        case .integer: "\(column) >= '' AND (\(column) = ?1 OR \(text))"
        case .blob: "\(column) IN (?1, CAST(?1 AS BLOB)) OR (\(column) < x'' AND \(text))"
        case .text, .uuid: nil
        }
    }

    /// Finds them again: candidates through a subquery, then by their bytes.
    private static func check(_ rule: TableRule, _ shape: TableShape) -> String {
        let column = "\(CutoffSQL.quoted(shape.name)).\(CutoffSQL.quoted(rule.column))"
        let candidates = "\(column) IN (SELECT ?1)"
        return switch rule.idType {
        case .text: "\(candidates) AND CAST(\(column) AS BLOB) = CAST(?1 AS BLOB)"
        case .integer:
            "\(candidates) AND \(isTyped(rule, column))"
                + " AND CAST(CAST(\(column) AS INTEGER) AS TEXT) = CAST(?1 AS TEXT)"
        case .blob: "\(candidates) AND hex(\(column)) = hex(?1)"
        case .uuid: "0"
        }
    }

    /// What names a row: the rowid, or the primary key of a table without one.
    private static func rowKey(_ shape: TableShape) -> String {
        rowKeys(shape).joined(separator: ", ")
    }

    private static func rowKeys(_ shape: TableShape) -> [String] {
        if let name = shape.rowIDName { return ["\(CutoffSQL.quoted(shape.name)).\(name)"] }
        return shape.primaryKey.map { CutoffSQL.quoted($0.name) }
    }
}

/// All rules of a target in the order of work, for one version of the schema.
struct SQLitePurgePlan: Sendable {
    let schemaVersion: Int64
    let tables: [TablePlan]
    let keys: [KeyPlan]
    /// Tables refer to each other in a circle, so that no order of work is children first: foreign
    /// keys are checked at the end of each transaction.
    let isCircular: Bool
}
