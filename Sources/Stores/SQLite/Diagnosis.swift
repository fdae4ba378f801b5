internal import CSQLiteGuard
internal import GRDB
internal import GRDBSQLite
internal import Lifecycle

/// Holds the rules against the live schema and the stored values.
enum Diagnosis {
    /// What one look at the database found.
    struct Findings: Sendable {
        var problems: [String] = []
        var advice: [String] = []
        var plan: SQLitePurgePlan?
    }

    /// Makes the plan of the present schema, or refuses.
    ///
    /// - Throws: ``TargetError`` with `planRefused` when anything forbids to purge.
    static func plan(
        _ db: Database,
        rules: WorkRules,
        now: WallTime,
        target: TargetName
    ) throws -> SQLitePurgePlan {
        guard let plan = try run(db, rules: rules, now: now).plan else {
            throw TargetError(kind: .planRefused, target: target)
        }
        return plan
    }

    /// Checks schema, statements and stored values in one read transaction.
    static func run(
        _ db: Database,
        rules: WorkRules,
        now: WallTime
    ) throws -> Findings {
        unsafe csqliteguard_deadline_begin(
            db.sqliteConnection,
            TargetLimits.diagnosisDeadline.milliseconds
        )
        defer { unsafe csqliteguard_deadline_end(db.sqliteConnection) }
        try db.execute(sql: "BEGIN")
        defer { _ = unsafe sqlite3_exec(db.sqliteConnection, "ROLLBACK", nil, nil, nil) }
        let schema = try LiveSchema(db)
        var maker = PlanMaker(rules: rules, schema: schema)
        let plan = maker.make()
        var findings = Findings(problems: maker.problems, advice: maker.advice)
        guard let plan else { return findings }
        for table in plan.tables { prepare(table, db, &findings) }
        for key in plan.keys { prepare(key.statements, of: key.table, db, &findings) }
        for table in plan.tables {
            guard let shape = schema.table(table.table) else { continue }
            do {
                try checkStoredIDs(table.rule, shape, db, &findings)
                try checkTimes(table.rule, shape, db, now, &findings)
            } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT {
                findings.advice.append(
                    "table '\(table.table)' is too large to check its stored values in time"
                )
            }
        }
        for key in plan.keys {
            guard let shape = schema.table(key.table) else { continue }
            do {
                let rule = key.rule.valueRule
                try checkStoredIDs(rule, shape, db, &findings, setting: "value_type")
            } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT {
                findings.advice.append(
                    "table '\(key.table)' is too large to check its stored values in time"
                )
            }
        }
        if findings.problems.isEmpty { findings.plan = plan }
        return findings
    }

    /// Compiling also compiles the application's triggers, so that a function or collation that
    /// only the application has shows here and not in the middle of a purge.
    private static func prepare(_ table: TablePlan, _ db: Database, _ findings: inout Findings) {
        let statements = [
            table.countSQL, table.workSQL, table.chunkSQL, table.cursorSQL, table.newerSQL,
            table.remainingSQL, table.nonCanonicalSQL, table.literalSQL, table.futureSQL,
            table.heldSQL,
        ]
        prepare(
            statements.compactMap(\.self) + table.counting.statements
                + (table.checking?.statements ?? [])
                + table.blockers.map(\.sql),
            of: table.table,
            db,
            &findings
        )
    }

    private static func prepare(
        _ statements: [String],
        of table: String,
        _ db: Database,
        _ findings: inout Findings
    ) {
        for sql in statements {
            do {
                _ = try db.cachedStatement(sql: sql)
            } catch {
                var reason = (error as? DatabaseError)?.message ?? "unknown"
                if reason.hasPrefix("unsafe use of") {
                    reason += " in a trigger (triggers = \"trusted\" allows it)"
                }
                findings.problems.append(
                    "table '\(table)' cannot be worked on with the present schema: \(reason)"
                )
                return
            }
        }
    }

    /// Values of another type than the rule's are passed over, and keep whom they may mean open.
    ///
    /// A few odd rows must not stop everybody; where many are odd and none fits, the rule is wrong.
    ///
    /// The storage classes sort as NULL, numbers, text, blobs (sqlite.org/datatype3.html, 4.1), so
    /// an index answers at once.
    private static func checkStoredIDs(
        _ rule: TableRule,
        _ shape: TableShape,
        _ db: Database,
        _ findings: inout Findings,
        setting: String = "id_type"
    ) throws {
        let table = CutoffSQL.quoted(shape.name)
        let column = CutoffSQL.quoted(rule.column)
        let strangers: [(kind: String, condition: String)] =
            switch rule.idType {
            case .text: [("a number", "\(column) < ''"), ("a blob", "\(column) >= x''")]
            case .integer:
                [("text", "\(column) >= '' AND \(column) < x''"), ("a blob", "\(column) >= x''")]
            case .uuid: []
            case .blob:
                [("a number", "\(column) < ''"), ("text", "\(column) >= '' AND \(column) < x''")]
            }
        let fitting =
            switch rule.idType {
            case .text: "\(column) >= '' AND \(column) < x''"
            case .integer: "\(column) < ''"
            case .uuid: "0"
            case .blob: "\(column) >= x''"
            }
        let has = { (count: Int, condition: String) in
            let skipped = "LIMIT 1 OFFSET \(count - 1)"
            let sql = "SELECT 1 FROM \(table) WHERE \(condition) \(skipped)"
            return try Int.fetchOne(db, sql: sql) != nil
        }
        for (kind, condition) in strangers where try has(1, condition) {
            let isWrongRule = try has(TargetLimits.strangeRows, condition) && !has(1, fitting)
            let fact =
                "column '\(rule.column)' of table '\(shape.name)' holds \(kind), which \(setting)"
                + " \"\(rule.idType.rawValue)\" never matches"
            if isWrongRule {
                findings.problems.append(fact)
            } else {
                findings.advice.append("\(fact); a request that may mean such a row stays open")
            }
        }
    }

    /// A unit that does not fit would cutoff everything or nothing.
    private static func checkTimes(
        _ rule: TableRule,
        _ shape: TableShape,
        _ db: Database,
        _ now: WallTime,
        _ findings: inout Findings
    ) throws {
        guard let creation = rule.creation else { return }
        let table = CutoffSQL.quoted(shape.name)
        let column = CutoffSQL.quoted(creation.column)
        let newest = shape.rowIDName.map { " ORDER BY \(table).\($0) DESC" } ?? ""
        if rule.action != .keep {
            for (isFound, advice) in [
                (CutoffSQL.isUndated(creation, of: table), creation.undatedAdvice(shape.name)),
                (CutoffSQL.isDay(creation, of: table), creation.dayAdvice(shape.name)),
            ] {
                let sample = """
                    SELECT 1 FROM (SELECT \(isFound) AS found FROM \(table)\(newest) \
                    LIMIT \(TargetLimits.sampleRows)) WHERE found LIMIT 1
                    """
                if try Int.fetchOne(db, sql: sample) != nil { findings.advice.append(advice) }
            }
        }
        // Between the two bounds means: readable, after 1990, not in the future.
        let inner = """
            SELECT \(CutoffSQL.isPlausible(creation, of: table)) AS plausible FROM \(table) \
            WHERE \(column) IS NOT NULL\(newest) LIMIT \(TargetLimits.sampleRows)
            """
        let statement = try db.makeStatement(
            sql: "SELECT count(*), sum(plausible) FROM (\(inner)), (SELECT ?1)"
        )
        let year1990 = Int64(631_152_000_000)
        func counts(upTo horizon: WallTime) throws -> (all: Int, plausible: Int) {
            let row = try Row.fetchOne(
                statement,
                arguments: [nil, year1990, horizon.unixMilliseconds]
            )
            return (row?[0] ?? 0, row?[1] ?? 0)
        }
        let (count, plausible) = try counts(upTo: now + TargetLimits.clockSkew)
        if count > 0 && plausible == 0, try counts(upTo: TargetLimits.unitHorizon).plausible == 0 {
            findings.problems.append(
                "column '\(creation.column)' of table '\(shape.name)' holds no plausible time in"
                    + " \(creation.unit.rawValue)"
            )
        } else if plausible < count {
            findings.advice.append(
                "column '\(creation.column)' of table '\(shape.name)' holds values that are no"
                    + " plausible time; rows dated in the future or unreadably are never purged"
            )
        }
    }
}
