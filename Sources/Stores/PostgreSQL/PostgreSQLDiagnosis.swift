internal import Lifecycle

/// Holds the rules against the live catalogs, the role's privileges and the stored values.
struct PostgreSQLDiagnosis {
    let session: PostgreSQLSession
    let configuration: PostgreSQLTargetPlan
    let now: WallTime
    /// One sentence for each thing that forbids to purge.
    private(set) var problems: [String] = []
    /// One sentence for each thing that an operator should know.
    private(set) var advice: [String] = []

    init(session: PostgreSQLSession, configuration: PostgreSQLTargetPlan, now: WallTime) {
        self.session = session
        self.configuration = configuration
        self.now = now
    }

    /// Checks everything that the catalogs and the statements themselves tell.
    ///
    /// - Returns: The plan, or `nil` when there are ``problems``.
    /// - Throws: ``PostgreSQLError`` when the server cannot be asked.
    mutating func run(
        _ catalog: PostgreSQLCatalog,
        holds: [RowFilter] = []
    ) throws(PostgreSQLError) -> PostgreSQLPlan? {
        try checkServer()
        var maker = PostgreSQLPlanMaker(
            rules: configuration.workRules(holds: holds),
            catalog: catalog
        )
        let plan = maker.make()
        problems += maker.problems
        advice += maker.advice
        guard let plan else { return nil }
        for table in plan.tables {
            let values = [table.rule.idType.sample, "0", "1"]
            let samples = table.samples.map { sample in
                (sql: sample.sql, values: Array(values.prefix(sample.parameterCount)))
            }
            try checkStatements(of: table.table, samples)
        }
        for key in plan.keys { try checkStatements(of: key.table, key.samples) }
        for rule in maker.rules { try checkTimes(rule, catalog) }
        return problems.isEmpty ? plan : nil
    }

    private mutating func checkServer() throws(PostgreSQLError) {
        let facts = try ask(
            """
            SELECT pg_is_in_recovery(), current_setting('default_transaction_read_only'),
                (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
            """
        )
        let values = facts.rows.first ?? []
        guard values.count == 3 else { return }
        if values[0] == "t" { problems.append("the server is a replica; name the primary") }
        if values[1] == "on" { problems.append("the role may only read (read-only transactions)") }
        if values[2] == "t" {
            advice.append("the role is a superuser; a role with privileges on its tables is enough")
        }
    }

    /// Planning also checks types, privileges and row security, so that they show here and not in
    /// the middle of a purge.
    private mutating func checkStatements(
        of table: String,
        _ samples: [(sql: String, values: [String])]
    ) throws(PostgreSQLError) {
        for sample in samples {
            do throws(PostgreSQLError) {
                _ = try ask("EXPLAIN (COSTS off) \(sample.sql)", sample.values)
            } catch {
                guard !error.endsSession || error.kind == .privilege else { throw error }
                let reason =
                    error.kind == .privilege
                    ? "the role lacks a privilege, or row security hides rows from it"
                    : "SQLSTATE \(error.sqlState)"
                problems.append("table '\(table)' cannot be worked on: \(reason)")
                return
            }
        }
    }

    /// A unit that does not fit would cutoff everything or nothing.
    private mutating func checkTimes(
        _ rule: TableRule,
        _ catalog: PostgreSQLCatalog
    ) throws(PostgreSQLError) {
        guard let creation = rule.creation, let shape = catalog.tables[rule.table] else { return }
        let column = PostgreSQLDialect.quote(creation.column)
        if rule.action != .keep, shape.column(creation.column)?.isNotNull == false {
            let undated = try ask(
                """
                SELECT count(*) FILTER (WHERE u) FROM (SELECT \(column) IS NULL AS u
                    FROM \(shape.reference) LIMIT \(PostgreSQLLimits.sampleRows)) AS q
                """
            )
            if undated.integer(0) > 0 { advice.append(creation.undatedAdvice(shape.name)) }
        }
        if rule.action != .keep, shape.column(creation.column)?.type == "date" {
            advice.append(creation.dayAdvice(shape.name))
        }
        let context: String
        switch creation.unit {
        case .unixSeconds: context = "\(column)::float8 * 1000"
        case .unixMilliseconds: context = "\(column)::float8"
        case .timestamp, .iso8601: return
        }
        let year1990 = Int64(631_152_000_000)
        let horizon = (now + TargetLimits.clockSkew).unixMilliseconds
        let unitHorizon = TargetLimits.unitHorizon.unixMilliseconds
        let rows = try ask(
            """
            SELECT count(*), count(*) FILTER (WHERE m > \(year1990) AND m <= \(horizon)),
              count(*) FILTER (WHERE m > \(year1990) AND m <= \(unitHorizon))
            FROM (SELECT \(context) AS m FROM \(shape.reference) WHERE \(column) IS NOT NULL
                LIMIT \(PostgreSQLLimits.sampleRows)) AS q
            """
        )
        let (count, plausible) = (rows.integer(0), rows.integer(1))
        if count > 0, rows.integer(2) == 0 {
            problems.append(
                "column '\(creation.column)' of table '\(shape.name)' holds no plausible time in"
                    + " \(creation.unit.rawValue)"
            )
        } else if plausible < count {
            advice.append(
                "column '\(creation.column)' of table '\(shape.name)' holds values that are no"
                    + " plausible time; rows dated in the future are never purged"
            )
        }
    }

    private func ask(
        _ sql: String,
        _ values: [String?] = []
    ) throws(PostgreSQLError) -> PostgreSQLRows {
        try session.query(sql, values, within: configuration.statementTimeout)
    }
}
