package import Engine
import GRDB
package import Lifecycle

/// What only reads: verification, plans, users and keys.
extension SQLiteStore {
    /// Counts what is left by other queries than the purge used.
    package func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer] {
        let answers = await verifySpelled(nonCanonical.fit(orders))
        closeIfUnused()
        return nonCanonical.merged(answers, orders) { .failure($0) }
    }

    private func verifySpelled(_ orders: [PurgeOrder]) async -> [VerifyAnswer] {
        var answers: [VerifyAnswer] = []
        let error = await retrying {
            while answers.count < orders.count {
                let (rest, clock) = (orders[answers.count...], clock)
                do {
                    answers += try await sparing { plan, isLast -> [VerifyAnswer] in
                        try await read { try Self.verify(rest, plan, $0, clock, isLast) }
                    }
                } catch let error as SQLError where error.kind == .timeout {
                    // Millions of rows that are masked already, each of which is read.
                    answers.append(await verifyInPieces(orders[answers.count]))
                }
            }
        }
        guard let error else { return answers }
        let missing = orders.count - answers.count
        return answers + Array(repeating: .failure(error.failure), count: missing)
    }

    /// Answers the first orders, as many as fit the time (at least one).
    private static func verify(
        _ orders: ArraySlice<PurgeOrder>,
        _ plan: Plan,
        _ reader: SQLiteReader,
        _ clock: StoreClock,
        _ isLast: Bool
    ) throws(SQLError) -> [VerifyAnswer] {
        try reader.reading(plan) { () throws(SQLError) -> [VerifyAnswer] in
            let start = clock.uptime()
            var answers: [VerifyAnswer] = []
            for order in orders {
                do throws(SQLError) {
                    answers.append(try reader.verify(order, plan, at: clock.wall()))
                } catch {
                    // The next call begins with it, and finds that it alone is so long.
                    if error.kind == .timeout || !isLast, !answers.isEmpty { break }
                    guard error.obstacle != nil, isLast else { throw error }
                    answers.append(.failure(error.failure))
                }
                // The next order may have no long value, and use indexes.
                if isLast || clock.uptime() - start >= SQLiteLimits.transactionSoft { break }
            }
            return answers
        }
    }

    /// Verifies table by table, each in short read transactions.
    func verifyInPieces(_ order: PurgeOrder) async -> VerifyAnswer {
        await answering(VerifyAnswer.failure) {
            try await sparing { plan, _ in try await verifyInPieces(order, plan) }
        }
    }

    private func verifyInPieces(_ order: PurgeOrder, _ plan: Plan) async throws -> VerifyAnswer {
        var remaining = 0
        for table in plan.tables where remaining == 0 {
            guard let checking = table.work.checking else { continue }
            let start = SQLiteRowCount(.byUser)
            let left = try await count(order, from: start, of: table, checking, plan) {
                $0.found > 0
            }
            remaining = left.found
        }
        let (counted, clock) = (remaining, clock)
        return try await read { reader in
            try reader.reading(plan) { () throws(SQLError) -> VerifyAnswer in
                try reader.verify(order, plan, at: clock.wall(), counted: counted)
            }
        }
    }

    /// Counts the user's rows table by table, each in short read transactions.
    package func plan(_ order: PurgeOrder) async -> PlanAnswer {
        guard !nonCanonical.concerns(order) else { return .failure(nonCanonical.failure(order)) }
        let answer = await answering(PlanAnswer.failure) {
            try await sparing { plan, _ -> PlanAnswer in
                var items: [PlanItem] = []
                for table in plan.tables {
                    let (start, counting) = (SQLiteRowCount(), table.work.counting)
                    let counted = try await count(order, from: start, of: table, counting, plan)
                    items += [counted.item(of: table)].compactMap(\.self)
                }
                return .items(items)
            }
        }
        closeIfUnused()
        return answer
    }

    /// Counts a user's rows of one table, each piece in a transaction of its own.
    ///
    /// Without an order, those that are of no certain user.
    func count(
        _ order: PurgeOrder?,
        from start: SQLiteRowCount,
        of table: TablePlan<SQLiteDialect>,
        _ counting: SQLiteCounting,
        _ plan: Plan,
        until isEnough: (SQLiteRowCount) -> Bool = { _ in false }
    ) async throws -> SQLiteRowCount {
        var count = start
        let clock = clock
        while !count.isAtEnd, !isEnough(count) {
            let before = count
            count = try await read { reader in
                try SQLiteCountTransaction(reader: reader, plan: plan, clock: clock)
                    .advance(before, of: table, counting, for: order)
            }
            guard !count.isAtEnd else { break }
            try await clock.rest(SQLLimits.restBetweenChunks)
        }
        return count
    }

    // MARK: Users and keys

    /// Goes through every table of which something is erased, page by page.
    package func users(
        where isWanted: @escaping @Sendable (UserID) -> Bool
    ) async -> UsersAnswer {
        let answer = await answering(UsersAnswer.failure) {
            try await sparing { plan, _ -> UsersAnswer in
                var found: Set<UserID> = []
                for start in plan.userScans {
                    var scan = start
                    while !scan.isAtEnd {
                        let before = scan
                        let (page, after) = try await read { reader in
                            var scan = before
                            let users = try scan.next { sql, parameters throws(SQLError) in
                                try reader.reading(plan) { () throws(SQLError) -> [[BoundValue?]] in
                                    try reader.rows(sql, parameters)
                                }
                            }
                            return (users.filter(isWanted), scan)
                        }
                        scan = after
                        found.formUnion(page)
                    }
                }
                return .found(Array(found))
            }
        }
        closeIfUnused()
        return answer
    }

    /// Reads the ids in users' rows, in short read transactions.
    package func keys(_ key: String, of orders: [PurgeOrder]) async -> [KeysAnswer] {
        let (answers, failure) = await answers(orders, by: key) {
            reader,
            key,
            order,
            isLast throws(SQLError) -> KeysAnswer in
            do throws(SQLError) {
                return try reader.ids(key, of: order)
            } catch {
                guard error.obstacle != nil, isLast else { throw error }
                return .failure(error.failure)
            }
        }
        let missing = orders.count - answers.count
        return answers + Array(repeating: .failure(failure ?? .lost), count: missing)
    }

    /// Counts the rows that name each id, in short read transactions.
    package func named(
        _ ids: [UserID],
        as key: String,
        besides orders: [PurgeOrder]
    ) async -> OwnersAnswer {
        let (answers, failure) = await answers(ids, by: key) {
            reader,
            key,
            id,
            _ throws(SQLError) -> Bool in
            try reader.isNamed(id, key, besides: orders)
        }
        if let failure { return .failure(failure) }
        return .named(Set(zip(ids, answers).filter(\.1).map(\.0)))
    }

    /// Asks in one transaction after the other, as often as fits the time (at least once).
    private func answers<Question: Sendable, Answer: Sendable>(
        _ questions: [Question],
        by name: String,
        _ ask:
            @escaping @Sendable (
                SQLiteReader, KeyPlan, Question, _ isLast: Bool
            ) throws(SQLError) -> Answer
    ) async -> (answers: [Answer], failure: EffectFailure?) {
        var answers: [Answer] = []
        let error = await retrying {
            while answers.count < questions.count {
                let (rest, clock) = (questions[answers.count...], clock)
                answers += try await sparing { plan, isLast -> [Answer] in
                    guard let key = plan.key(name) else {
                        throw SQLError(.planRefused, store: self.name)
                    }
                    return try await read { reader in
                        try reader.reading(plan) { () throws(SQLError) -> [Answer] in
                            let start = clock.uptime()
                            var answers: [Answer] = []
                            for question in rest {
                                answers.append(try ask(reader, key, question, isLast))
                                if clock.uptime() - start >= SQLiteLimits.transactionSoft { break }
                            }
                            return answers
                        }
                    }
                }
            }
        }
        return (answers, error?.failure)
    }
}

/// Counts one user's rows of one table in pieces: for a plan, or for a verification that takes too
/// long at once.
struct SQLiteCountTransaction {
    let reader: SQLiteReader
    let plan: SQLPlan<SQLiteDialect>
    let clock: StoreClock

    /// Counts the next piece, in a read transaction; returns how far it is now.
    func advance(
        _ before: SQLiteRowCount,
        of table: TablePlan<SQLiteDialect>,
        _ counting: SQLiteCounting,
        for order: PurgeOrder?
    ) throws(SQLError) -> SQLiteRowCount {
        try reader.reading(plan, deadline: before.deadline) {
            () throws(SQLError) -> SQLiteRowCount in
            let key: RootKey? = order.map { table.root.key(for: $0.user) } ?? table.root.sample
            guard let key else { return .none }
            let query = try SQLiteQuery(before.sql(counting), on: reader.db, store: reader.store)
            defer { query.forget() }
            try query.bind(.of(key, time: order?.cutoff))
            for (offset, value) in before.position.enumerated() {
                try query.bind(value, at: SQLiteCounting.firstPlace + Int32(offset))
            }
            var after = before
            do throws(SQLError) { try after.advance(query, clock) } catch {
                throw error.sized(at: table.table)
            }
            return after
        }
    }
}
