import GRDB
import Lifecycle

/// Compares the rules with the live schema and the stored values, in one read transaction.
struct SQLiteDiagnosis {
    let reader: SQLiteReader
    private(set) var found = SQLFindings()
    private(set) var plan: SQLPlan<SQLiteDialect>?

    /// Runs it; ``plan`` stays `nil` when anything forbids to purge.
    init(_ reader: SQLiteReader, _ rules: WorkRules, at now: WallTime) throws(SQLError) {
        self.reader = reader
        try reader.reading(deadline: SQLiteLimits.diagnosisDeadline) {
            () throws(SQLError) -> Void in
            let schema = try Self.schema(reader, sparesLongValues: rules.sparesLongValues)
            var maker = SQLPlanMaker<SQLiteDialect>(rules, schema)
            let made = maker.make()
            found = maker.found
            guard let made else { return }
            for table in made.tables {
                found.section = maker.section(of: table.rule)
                prepare(table.statements, of: table.table)
            }
            for key in made.keys {
                found.section = maker.section(of: key.rule)
                prepare(key.statements, of: key.table)
            }
            for table in made.tables {
                found.section = maker.section(of: table.rule)
                guard let shape = schema.table(table.table) else { continue }
                try checkValues(of: shape) { (diagnosis: inout SQLiteDiagnosis) throws(SQLError) in
                    if table.rule.via == nil, table.rule.inside == nil {
                        try diagnosis.checkIDs(table.rule, shape, setting: "id_type")
                    }
                    try reader.checkTimes(table.rule, shape, at: now, &diagnosis.found)
                    try reader.checkPresence(of: table.rule, shape, &diagnosis.found)
                }
            }
            for key in made.keys {
                found.section = maker.section(of: key.rule)
                guard let shape = schema.table(key.table) else { continue }
                try checkValues(of: shape) { (diagnosis: inout SQLiteDiagnosis) throws(SQLError) in
                    try diagnosis.checkIDs(key.rule.valueRule, shape, setting: "value_type")
                    try reader.checkKeys(of: key.rule, shape, &diagnosis.found)
                }
            }
            for key in maker.blocking {
                guard let shape = schema.table(key.table) else { continue }
                do throws(SQLError) {
                    try reader.check(key, shape, &found)
                } catch {
                    let kind = error.sized(at: key.table).kind
                    guard kind == .timeout || kind == .oversized else { throw error }
                    found.advise(key)
                }
            }
            if found.problems.isEmpty { plan = made }
        }
    }

    static func schema(
        _ reader: SQLiteReader,
        sparesLongValues: Bool = false
    ) throws(SQLError) -> SQLSchema {
        do {
            return try SQLiteCatalog(db: reader.db, sparesLongValues: sparesLongValues).read()
        } catch {
            throw SQLError(error, store: reader.store)
        }
    }

    private mutating func checkValues(
        of table: TableShape,
        _ body: (inout SQLiteDiagnosis) throws(SQLError) -> Void
    ) throws(SQLError) {
        do {
            try body(&self)
        } catch {
            let error = error.sized(at: table.name)
            guard error.kind == .timeout || error.kind == .oversized else { throw error }
            found.advise(
                error.obstacle?.text
                    ?? "table '\(table.name)' is too large to check its stored values in time"
            )
        }
    }

    /// Compiling also compiles the application's triggers, so that a function or collation that
    /// only the application has shows here and not in the middle of a purge.
    private mutating func prepare(_ statements: [String], of table: String) {
        for sql in statements {
            do {
                _ = try reader.db.cachedStatement(sql: sql)
            } catch {
                var reason = (error as? DatabaseError)?.message ?? "unknown"
                if reason.hasPrefix("unsafe use of") {
                    reason += " in a trigger (triggers = \"trusted\" allows it)"
                }
                found.refuse(
                    "table '\(table)' cannot be worked on with the present schema: \(reason)"
                )
                return
            }
        }
    }

    /// A few values of another type than the rule's must not stop all users; where many are and
    /// none fits, the rule is wrong.
    ///
    /// The storage classes sort as NULL, numbers, text, blobs (sqlite.org/datatype3.html, 4.1), so
    /// an index answers at once.
    private mutating func checkIDs(
        _ rule: TableRule,
        _ table: TableShape,
        setting: String
    ) throws(SQLError) {
        let column = SQLiteDialect.quoted(rule.column)
        let classes: [(type: IDType, kind: String, condition: String)] = [
            (.integer, "a number", "\(column) < ''"),
            (.text, "text", "\(column) >= '' AND \(column) < x''"),
            (.blob, "a blob", "\(column) >= x''"),
        ]
        let has = { [reader] (count: Int, condition: String) throws(SQLError) -> Bool in
            try reader.count(
                "SELECT 1 FROM \(table.reference) WHERE \(condition) LIMIT 1 OFFSET \(count - 1)"
            ) > 0
        }
        guard let fitting = classes.first(where: { $0.type == rule.idType }) else { return }
        for (type, kind, condition) in classes where type != rule.idType {
            guard try has(1, condition) else { continue }
            var isWrong = try has(SQLLimits.strangeRows, condition)
            if isWrong, try has(1, fitting.condition) { isWrong = false }
            let fact =
                "column '\(rule.column)' of table '\(table.name)' holds \(kind), which \(setting)"
                + " \"\(rule.idType.rawValue)\" never matches"
            if isWrong {
                found.refuse(fact)
            } else {
                found.advise("\(fact); a request that may mean such a row stays open")
            }
        }
    }
}
