import Lifecycle
import PostgreSQL

/// One session at the server, in pipeline mode: a statement is sent, and its answer is read when
/// the caller needs it.
///
/// Confined to the thread of its ``PostgreSQLLane``. A session that ends is made anew with the next
/// transaction.
final class PostgreSQLConnection {
    /// What was sent and is not answered yet.
    private enum Awaited {
        /// The parsing of a statement, by its common text.
        case preparation(String)
        case statement(mustChange: Bool)
        case sync
    }

    let plan: PostgreSQLStatePlan
    private var link: PostgreSQLLink?
    private var statements = PostgreSQLStatements()
    private var awaited: [Awaited] = []
    private var parameters = PostgreSQLParameters()
    /// Follows each connecting; a writer claims its place there.
    private let setUp: (PostgreSQLConnection) throws -> Void

    private(set) var changesCount = 0
    private(set) var totalChangesCount = 0
    private(set) var isInsideTransaction = false

    init(
        _ plan: PostgreSQLStatePlan,
        setUp: @escaping (PostgreSQLConnection) throws -> Void = { _ in }
    ) {
        self.plan = plan
        self.setUp = setUp
    }

    func disconnect() {
        link = nil
        statements = PostgreSQLStatements()
        awaited = []
        isInsideTransaction = false
    }

    // MARK: Connecting

    /// - Throws: ``PostgreSQLStateError``.
    func connect() throws {
        guard link == nil else { return }
        do {
            let new = try plan.open()
            try new.enterPipeline()
            link = new
        } catch let failure as PostgreSQLFailure {
            throw PostgreSQLStateError(failure)
        }
        do {
            try step(Self.settings, settingValues) { _ in true }
            try setUp(self)
        } catch {
            disconnect()
            throw error
        }
    }

    /// A commit is on disk when it is acknowledged, whatever suits other databases of the server.
    private static let settings = """
        SELECT set_config('search_path', ?, false),
          set_config('lock_timeout', ?, false),
          set_config('statement_timeout', ?, false),
          set_config('idle_in_transaction_session_timeout', ?, false),
          set_config('synchronous_commit', CASE WHEN current_setting('synchronous_commit') = 'off'
            THEN 'on' ELSE current_setting('synchronous_commit') END, false),
          set_config('standard_conforming_strings', 'on', false),
          set_config('default_transaction_isolation', 'read committed', false),
          set_config('jit', 'off', false),
          set_config('expunged.host', ?, false),
          set_config('client_min_messages', 'error', false)
        """

    private var settingValues: [SQLValue] {
        [
            .text(plan.schema), .text("\(PostgreSQLStateLimits.lock.milliseconds)"),
            .text("\(PostgreSQLStateLimits.answer.milliseconds)"),
            .text("\(PostgreSQLStateLimits.idleInTransaction.milliseconds)"), .text(plan.host),
        ]
    }

    // MARK: Transactions

    /// Begins with the next statement that is sent.
    func begin(_ sql: String) throws {
        isInsideTransaction = true
        try send(sql, [])
    }

    /// Ends a transaction of which nothing is needed any more; the answer is read later.
    func endSnapshot() {
        isInsideTransaction = false
        do {
            try send("COMMIT", [])
            try push(until: deadline)
        } catch {
            // A snapshot has changed nothing, and the next one connects anew.
            disconnect()
        }
    }

    /// A session that does not answer is left: the server rolls its transaction back.
    func rollBack() {
        isInsideTransaction = false
        guard link != nil else { return }
        do {
            try settle()
        } catch {
            // The rollback ends what failed.
        }
        do {
            if link != nil { try step("ROLLBACK", []) { _ in true } }
        } catch {
            disconnect()
        }
    }

    /// Sends COMMIT and returns the tag of the answer.
    ///
    /// - Throws: ``PostgreSQLStateError``. The transaction is still open when a statement that was
    ///   sent before has failed; when the connection ended, the outcome is unknown.
    func commit() throws -> String {
        try send("COMMIT", [])
        let result = try collect()
        isInsideTransaction = false
        return result?.tag ?? ""
    }

    // MARK: Sending

    /// Sends a statement, and remembers that it must change a row.
    func sendRequired(_ sql: String, _ values: [SQLValue]) throws {
        try send(sql, values, mustChange: true)
    }

    private func send(_ sql: String, _ values: [SQLValue], mustChange: Bool) throws {
        if awaited.count >= PostgreSQLStateLimits.sentMax { try settle() }
        guard let link else { throw PostgreSQLStateError(.lost) }
        if plan.faults.before(sql) { throw gone(.lost) }
        parameters.removeAll()
        for value in values { value.append(to: &parameters) }
        let statement = statements.find(sql, parameters.types)
        if !statement.isPrepared {
            guard link.sendPreparation(statement.name, statement.sql, types: statement.types)
            else { throw gone(.lost) }
            awaited.append(.preparation(sql))
            statements.notePrepared(sql, true)
        }
        guard link.send(statement.name, isPrepared: true, parameters, isBinary: true) else {
            throw gone(.lost)
        }
        awaited.append(.statement(mustChange: mustChange))
        if plan.faults.after(sql) {
            try push(until: deadline)
            throw gone(.lost)
        }
    }

    private var deadline: Duration { plan.uptime() + PostgreSQLStateLimits.answer + .seconds(1) }

    private func gone(_ failure: PostgreSQLFailure) -> PostgreSQLStateError {
        disconnect()
        return PostgreSQLStateError(failure)
    }

    /// Ends the pipeline, so that the server answers, and hands it to the kernel.
    private func push(until deadline: Duration) throws {
        guard let link else { throw PostgreSQLStateError(.lost) }
        do {
            try link.sendSync()
            awaited.append(.sync)
            try link.flush(until: deadline)
        } catch {
            throw gone(error)
        }
    }

    // MARK: Answers

    /// Reads the answers of all that was sent, and returns the last one.
    ///
    /// - Throws: The first error among them.
    private func collect() throws -> PostgreSQLResult? {
        let deadline = deadline
        try push(until: deadline)
        guard let link else { throw PostgreSQLStateError(.lost) }
        var last: PostgreSQLResult?
        var error: PostgreSQLStateError?
        do {
            for expected in awaited {
                guard let result = try link.nextResult(until: deadline) else {
                    throw PostgreSQLFailure.lost
                }
                if case .sync = expected {
                    guard result.kind == .sync else { throw PostgreSQLFailure.lost }
                    continue
                }
                while try link.nextResult(until: deadline) != nil {}
                let found = take(result, expected)
                error = error ?? found
                if case .statement = expected { last = result }
            }
        } catch let failure as PostgreSQLFailure {
            // The server says why it ends a session, and then ends it.
            let why = error.flatMap { $0.endsConnection ? $0 : nil }
            throw why.map { disconnect(with: $0) } ?? gone(failure)
        }
        awaited.removeAll(keepingCapacity: true)
        guard let error else { return last }
        throw error.endsConnection ? disconnect(with: error) : error
    }

    private func disconnect(with error: PostgreSQLStateError) -> PostgreSQLStateError {
        disconnect()
        return error
    }

    private func take(
        _ result: PostgreSQLResult,
        _ expected: Awaited
    ) -> PostgreSQLStateError? {
        var error: PostgreSQLStateError?
        switch result.kind {
        case .done: error = nil
        case .failed(let failure):
            error = PostgreSQLStateError(failure, constraint: result.field("n"))
        case .skipped, .sync:
            error = PostgreSQLStateError(.busy, "an earlier statement failed")
        }
        switch expected {
        case .preparation(let sql):
            if error != nil { statements.forget(sql) }
        case .statement(let mustChange):
            guard error == nil, let count = result.changedCount else { break }
            guard mustChange else {
                changesCount = count
                totalChangesCount += count
                break
            }
            // A row of our own, which is no change of the state.
            if count == 0 {
                error = PostgreSQLStateError(.commitFailed, "another process has taken over")
            }
        case .sync: break
        }
        return error
    }
}

extension PostgreSQLConnection: StateConnection {
    func send(_ sql: String, _ values: [SQLValue]) throws {
        try send(sql, values, mustChange: false)
    }

    func settle() throws {
        guard !awaited.isEmpty else { return }
        _ = try collect()
    }

    func step(
        _ sql: String,
        _ values: [SQLValue],
        body: (RowValues) throws -> Bool
    ) throws {
        try send(sql, values)
        guard let result = try collect() else { return }
        try withExtendedLifetime(result) {
            for row in 0..<result.rowCount {
                guard try body(.postgreSQL(result.row(row))) else { return }
            }
        }
    }
}

extension SQLValue {
    fileprivate func append(to parameters: inout PostgreSQLParameters) {
        switch self {
        case .null: parameters.appendNull()
        case .int(let value): parameters.append(value)
        case .text(let text): parameters.append(text: text)
        case .blob(let bytes): parameters.append(bytes)
        case .id(let id): parameters.append(high: id.high, low: id.low)
        }
    }
}
