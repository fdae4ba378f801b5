import Encoding
internal import Engine
internal import Lifecycle

/// Purges one user, a transaction at a time; the caller rests between them.
///
/// A user with few rows goes in one transaction. One with many goes in several, and what an
/// interruption leaves is found again by the same statements.
struct PostgreSQLPurge {
    /// How far the work has come.
    enum Stand {
        case done(PurgeAnswer)
        /// A transaction was committed and there is more to do.
        case paused
    }

    let session: PostgreSQLSession
    let plan: PostgreSQLPlan
    let order: PurgeOrder
    let target: TargetName
    let clock: TargetClock
    let hasher: any KeyedHasher
    let statementTimeout: Duration

    private var tableIndex = 0
    private var counter: TableCounter?
    private var chunkRows = PostgreSQLLimits.chunkRows
    private var chunkCount = 0
    private var counts = PurgeCounts()

    init(
        session: PostgreSQLSession,
        plan: PostgreSQLPlan,
        order: PurgeOrder,
        configuration: PostgreSQLTargetPlan,
        tools: (clock: TargetClock, hasher: any KeyedHasher)
    ) {
        self.session = session
        self.plan = plan
        self.order = order
        target = configuration.name
        statementTimeout = configuration.statementTimeout
        (clock, hasher) = tools
    }

    /// Runs the next transaction.
    ///
    /// - Throws: ``PostgreSQLError``; the transaction is rolled back then.
    mutating func step() throws(PostgreSQLError) -> Stand {
        do {
            try run("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
            if plan.isCircular { try run("SET CONSTRAINTS ALL DEFERRED") }
            let isOver = try work()
            try run("COMMIT")
            guard isOver else { return .paused }
            guard counts.heldCount > 0 else { return .done(.done(counts)) }
            return .done(.held(counts, under: Set(order.holds.map(\.name))))
        } catch {
            if !error.endsSession { try run("ROLLBACK") }
            throw try named(error)
        }
    }

    /// Replaces the name of a function by that of a trigger that runs it, and adds the table that
    /// was worked on.
    private func named(_ error: PostgreSQLError) throws(PostgreSQLError) -> PostgreSQLError {
        guard let found = error.obstacle, found.kind == .trigger || found.kind == .permission
        else { return error }
        let table = tableIndex < plan.tables.count ? plan.tables[tableIndex].table : nil
        var error = error
        error.obstacle = Obstacle(found.kind, at: found.place ?? table, name: found.name)
        guard found.kind == .trigger, let function = found.name else { return error }
        let rows = try ask(Self.triggerSQL, [function, table]).rows
        guard let row = rows.first, let trigger = row[0] else { return error }
        error.obstacle = Obstacle(.trigger, at: row[1], name: trigger)
        return error
    }

    /// The trigger that runs a function: one of the table if there is any.
    private static let triggerSQL = """
        SELECT t.tgname, c.relname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
        JOIN pg_proc p ON p.oid = t.tgfoid JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE NOT t.tgisinternal AND $1 IN (p.proname, n.nspname || '.' || p.proname)
        ORDER BY c.relname <> $2, t.tgname LIMIT 1
        """

    /// False when the transaction is to be committed with work left.
    private mutating func work() throws(PostgreSQLError) -> Bool {
        while tableIndex < plan.tables.count {
            let table = plan.tables[tableIndex]
            let action = table.rule.receiptAction
            guard let key = table.rule.idType.key(for: order.user)?.parameter else {
                close(TableCounter(table: table.table, action: action + ", no such id"))
                continue
            }
            if counter == nil {
                let rows = try ask(table.countSQL, [key, cutoff])
                let (found, newer) = (rows.integer(0), rows.integer(1))
                var new = TableCounter(table: table.table, action: action)
                if table.rule.action == .keep {
                    new.rowCount = found
                } else {
                    (new.newerCount, new.undatedCount) = (newer, rows.integer(2))
                }
                guard table.rule.action != .keep, found > newer else {
                    close(new)
                    continue
                }
                counter = new
            }
            let changed = try chunk(table, key)
            counter?.rowCount += changed.count
            chunkCount += 1
            guard chunkCount < PostgreSQLLimits.chunks else {
                // A trigger takes back what is done, or all of it would be done by now.
                var error = PostgreSQLError(.constraint, target: target)
                error.obstacle = Obstacle(.trigger, at: table.table)
                throw error
            }
            guard changed.isLast else { return false }
            if let counter { close(counter) }
        }
        try countHeld()
        return true
    }

    /// What stays of the user under holds.
    private mutating func countHeld() throws(PostgreSQLError) {
        for table in plan.tables {
            guard let sql = table.heldSQL,
                let key = table.rule.idType.key(for: order.user)?.parameter
            else { continue }
            let count = try ask(sql, [key, cutoff]).integer(0)
            guard count > 0 else { continue }
            counts.entries.append(
                .init(name: table.table, action: PurgeCounts.heldAction, rowCount: count)
            )
        }
    }

    private mutating func close(_ counter: TableCounter) {
        counts.entries += counter.entries
        self.counter = nil
        chunkRows = PostgreSQLLimits.chunkRows
        tableIndex += 1
    }

    private mutating func chunk(
        _ table: PostgreSQLTablePlan,
        _ key: String
    ) throws(PostgreSQLError) -> (count: Int, isLast: Bool) {
        let begin = clock.uptime()
        let rowsMax = chunkRows
        let values = [key, cutoff, "\(rowsMax)"]
        guard let sql = table.chunkSQL else {
            let found = try ask(table.selectSQL, values)
            let count = try mask(table, found.rows)
            // Fewer than there are: the others' values were too long to be read with these.
            let rows = found.rows.count < found.integer(0) ? found.rows.count : rowsMax
            chunkRows = ChunkPace.rows(after: rows, took: clock.uptime() - begin)
            return (count: count, isLast: count < rows)
        }
        let count = try ask(sql, values).changedCount
        chunkRows = ChunkPace.rows(after: rowsMax, took: clock.uptime() - begin)
        return (count: count, isLast: count < rowsMax)
    }

    /// Computes masks here, because the key of the hash never goes to the server.
    private func mask(
        _ table: PostgreSQLTablePlan,
        _ rows: [[String?]]
    ) throws(PostgreSQLError) -> Int {
        guard !rows.isEmpty else { return 0 }
        var arrays = [rows.map { $0[1] }, rows.map { $0[2] }]
        for (index, mask) in table.computed.enumerated() {
            let label = "\(table.table).\(mask.column)"
            arrays.append(
                rows.map { row in
                    guard let value = row[index + 3] else { return nil }
                    return mask.strategy == .random
                        ? MaskText.random(clock.entropy, hasher)
                        : MaskText.hash(value, label: label, hasher)
                }
            )
        }
        return try ask(table.maskSQL, arrays.map(Self.array)).changedCount
    }

    /// An array as text (PostgreSQL 15, 8.15.2).
    private static func array(_ values: [String?]) -> String {
        let texts = values.map { value in
            guard let value else { return "NULL" }
            let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            return "\"\(escaped)\""
        }
        return "{" + texts.joined(separator: ",") + "}"
    }

    private var cutoff: String { "\(order.cutoff.unixMilliseconds)" }

    private func ask(
        _ sql: String,
        _ values: [String?]
    ) throws(PostgreSQLError) -> PostgreSQLRows {
        try session.query(sql, values, within: statementTimeout)
    }

    private func run(_ sql: String) throws(PostgreSQLError) {
        _ = try session.query(sql, within: statementTimeout)
    }
}

extension BoundValue {
    /// As the text of a parameter.
    var parameter: String {
        switch self {
        case .text(let bytes): String(decoding: bytes, as: UTF8.self)
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .blob(let bytes): Hexadecimal.text(bytes)
        }
    }
}
