import Engine
import Lifecycle

/// A queue in a database of the application, by one session that works and one that listens.
///
/// Everything that a statement answers is compared by the caller; nothing here believes it.
actor SQLQueue<Session: QueueSession>: QueueServer {
    private let makePlan: @Sendable () throws -> Session.Configuration
    private let uptime: @Sendable () -> Duration
    private let queue: BlockingQueue
    private let listener: QueueListener<Session>
    private var session: Session?

    /// The queue on which everything here runs: waiting for a server holds no thread of others.
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe queue.asUnownedSerialExecutor()
    }

    /// Calls `makePlan` for each connection, so that a changed credential is read.
    init(
        name: String,
        clock: StoreClock,
        _ makePlan: @escaping @Sendable () throws -> Session.Configuration
    ) {
        self.makePlan = makePlan
        uptime = clock.uptime
        queue = BlockingQueue(label: "expunged.queue.\(name)")
        listener = QueueListener(name: name, clock: clock, makePlan)
    }

    // MARK: Connecting

    func open() async throws(SpoolFailure) -> QueueFacts {
        let signal = CancelSignal()
        let answer = await withTaskCancellationHandler {
            connect(signal)
        } onCancel: {
            signal.fire()
        }
        return try answer.get()
    }

    private func connect(_ signal: CancelSignal) -> Result<QueueFacts, SpoolFailure> {
        session = nil
        let plan: Session.Configuration
        do {
            plan = try makePlan()
        } catch {
            return .failure(.badCredential)
        }
        do throws(SQLError) {
            let opened = try Session.open(plan, proofKey: "", signal: signal, uptime: uptime)
            let facts = try Self.inspect(opened)
            opened.signal = nil
            if case .success = facts { session = opened }
            return facts
        } catch {
            return .failure(SpoolFailure(error))
        }
    }

    private static func inspect(
        _ session: Session
    ) throws(SQLError) -> Result<QueueFacts, SpoolFailure> {
        let meta = try session.texts(Session.Queue.meta, [])
        guard meta.count == 1, meta[0].count == 2, let version = meta[0][0].flatMap({ Int($0) }),
            let id = meta[0][1], QueueServerLimits.idLength.contains(id.utf8.count),
            id.utf8.allSatisfy(isIDByte)
        else { return .failure(.wrongSchema) }
        guard version <= QueueServerLimits.version else { return .failure(.newerVersion) }
        guard version == QueueServerLimits.version,
            fits(try session.texts(Session.Queue.columns, []))
        else { return .failure(.wrongSchema) }
        let foreign = try session.texts(Session.Queue.foreign, []).first?.first ?? nil
        return .success(QueueFacts(id: id, foreignCount: foreign.flatMap { Int($0) } ?? 0))
    }

    private static func isIDByte(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7a).contains(byte) || byte == 0x2d
    }

    /// Whether each table has the columns of the contract, of the right types.
    private static func fits(_ found: [[String?]]) -> Bool {
        var types: [String: String] = [:]
        for row in found where row.count == 3 {
            guard let table = row[0], let column = row[1], let type = row[2] else { continue }
            types["\(table).\(column)"] = type
        }
        return SpoolTable.allCases.allSatisfy { table in
            types["\(table.rawValue).id"] == Session.Queue.idType
                && Session.Queue.required(table).allSatisfy { column in
                    types["\(table.rawValue).\(column)"].map(Session.Queue.textTypes.contains)
                        ?? false
                }
        }
    }

    func close() async { session = nil }

    // MARK: Statements

    func lastID(of table: SpoolTable) async throws(SpoolFailure) -> Int64? {
        let rows = try perform { session throws(SQLError) in
            try session.texts(Session.Queue.lastID(table), [])
        }
        return (rows.first?.first ?? nil).flatMap { Int64($0) }
    }

    func page(
        of table: SpoolTable,
        in range: ClosedRange<Int64>,
        limit: Int
    ) async throws(SpoolFailure) -> QueuePage {
        let found = try perform { session throws(SQLError) in
            try session.texts(
                Session.Queue.page(table),
                ["\(range.lowerBound)", "\(range.upperBound)", "\(limit)"]
            )
        }.compactMap(Session.Queue.row)
        return QueuePage(
            rows: found.filter { !$0.isOversized }.map { $0.row },
            oversizedCount: found.count { $0.isOversized },
            lastID: found.last?.row.id
        )
    }

    func change<Value: Sendable>(
        _ table: SpoolTable,
        rows ids: [Int64],
        _ decide: @escaping @Sendable ([QueueRow]) -> ([QueueChange], Value)
    ) async throws(SpoolFailure) -> Value {
        try perform { session throws(SQLError) in
            try session.run(Session.Queue.begin)
            let list = Session.Queue.list(ids)
            let found = try session.texts(Session.Queue.lock(table), [list])
                .compactMap(Session.Queue.row)
            let (changes, value) = decide(found.map { $0.row })
            for write in Session.Queue.writes(changes) {
                _ = try session.texts(write.sql, [write.json])
            }
            try session.end(.commit)
            return value
        }
    }

    /// A session that failed is given up, but for one whose transaction can be undone.
    private func perform<Value>(
        _ body: (Session) throws(SQLError) -> Value
    ) throws(SpoolFailure) -> Value {
        guard let session else { throw SpoolFailure.unreachable }
        do throws(SQLError) {
            return try body(session)
        } catch {
            if error.rest != .planAndConnection || !isUndone(session) { self.session = nil }
            throw SpoolFailure(error)
        }
    }

    private func isUndone(_ session: Session) -> Bool {
        do throws(SQLError) {
            try session.end(.rollback)
            return true
        } catch {
            // The server undoes it when the session ends.
            return false
        }
    }

    nonisolated func awaitChange(within time: Duration) async -> QueueWait {
        await listener.awaitChange(within: time)
    }
}

/// Listens for updates of a queue's server.
private actor QueueListener<Session: QueueSession> {
    private let makePlan: @Sendable () throws -> Session.Configuration
    private let clock: StoreClock
    private let queue: BlockingQueue
    private var session: Session?

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe queue.asUnownedSerialExecutor()
    }

    init(
        name: String,
        clock: StoreClock,
        _ makePlan: @escaping @Sendable () throws -> Session.Configuration
    ) {
        self.makePlan = makePlan
        self.clock = clock
        queue = BlockingQueue(label: "expunged.listen.\(name)")
    }

    func awaitChange(within time: Duration) async -> QueueWait {
        guard let listen = Session.Queue.listen else { return await poll(time) }
        let signal = CancelSignal()
        return await withTaskCancellationHandler {
            wait(listen, time, signal)
        } onCancel: {
            signal.fire()
        }
    }

    /// Where the server passes nothing on, each look is one at the tables.
    private func poll(_ time: Duration) async -> QueueWait {
        do {
            try await clock.rest(time)
            return .changed
        } catch {
            // Only cancellation ends a rest early.
            return .quiet
        }
    }

    private func wait(_ listen: String, _ time: Duration, _ signal: CancelSignal) -> QueueWait {
        do {
            guard let session else {
                let opened = try Session.open(
                    try makePlan(),
                    proofKey: "",
                    signal: signal,
                    uptime: clock.uptime
                )
                try opened.run(listen)
                session = opened
                // What was committed before was not passed on.
                return .changed
            }
            session.signal = signal
            if try session.awaitNotification(within: time) { return .changed }
            // A connection that a firewall has cut answers nothing.
            _ = try session.texts("SELECT '1'", [])
            return .quiet
        } catch {
            session = nil
            return .failed
        }
    }
}

extension SpoolFailure {
    init(_ error: SQLError) {
        switch error.kind {
        case .busy, .locked: self = .locked
        case .lost, .unreachable, .moved, .cancelled: self = .unreachable
        case .timeout: self = .slow
        case .tls: self = .tls
        case .refused, .privilege: self = .denied
        case .badConninfo: self = .badCredential
        case .readOnly: self = .readOnly
        case .storage: self = .ioError
        case .constraint, .schemaChanged, .planRefused, .indexLost, .oversized, .unfit, .failed:
            self = .wrongSchema
        }
    }
}
