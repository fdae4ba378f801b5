import Engine
import Synchronization

@testable import Storage

/// A queue that a test holds in memory, with transactions that commit when the test says so.
final class HeldQueue: QueueServer {
    struct Row {
        var cells: [String: String]
        var state = "submitted"
        var requestID: String?
        var detail: String?
    }

    private struct State {
        var tables: [SpoolTable: [Int64: Row]] = [.credentials: [:], .requests: [:]]
        var facts = QueueFacts(id: "q1", foreignCount: 0)
        var isOpen = false
        var isAway = false
        var callCount = 0
        /// The call that fails, from 1, and whether its effect is lost, too.
        var failure: (call: Int, isLost: Bool)?
        var offered: [Int64] = []
    }

    private let state = Mutex(State())
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    init() { (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    // MARK: The application

    func put(_ table: SpoolTable, _ id: Int64, _ cells: [String: String]) {
        var cells = cells
        cells["created_at"] = cells["created_at"] ?? "2026-11-21T08:00:00.000Z"
        state.withLock { $0.tables[table, default: [:]][id] = Row(cells: cells) }
        wake.yield()
    }

    func submit(_ id: Int64, _ user: String) {
        put(.requests, id, ["kind": "delete_account", "user_id": user, "options": "{}"])
    }

    func store(_ id: Int64, _ user: String, secret: String) {
        put(
            .credentials,
            id,
            ["user_id": user, "provider": "apple", "kind": "refresh_token", "secret": secret]
        )
    }

    func change(_ id: Int64, _ body: (inout Row) -> Void) {
        state.withLock { state in
            guard var row = state.tables[.requests]?[id] else { return }
            body(&row)
            state.tables[.requests]?[id] = row
        }
        wake.yield()
    }

    func row(_ table: SpoolTable, _ id: Int64) -> Row? {
        state.withLock { $0.tables[table]?[id] }
    }

    // MARK: The server

    func setAway(_ isAway: Bool) {
        state.withLock { $0.isAway = isAway }
        wake.yield()
    }

    func replace(by id: String) {
        state.withLock { state in
            state.facts = QueueFacts(id: id, foreignCount: 0)
            state.isOpen = false
        }
        wake.yield()
    }

    func fail(call: Int, isLost: Bool) {
        state.withLock { $0.failure = (call, isLost) }
    }

    var callCount: Int { state.withLock { $0.callCount } }
    /// Ids of requests in the order in which pages brought them.
    var offered: [Int64] { state.withLock { $0.offered } }

    /// Counts a call; whether it fails before its effect, or after.
    private func begin(_ state: inout State) throws(SpoolFailure) -> Bool {
        state.callCount += 1
        guard state.isOpen, !state.isAway else {
            state.isOpen = false
            throw .unreachable
        }
        guard let failure = state.failure, failure.call == state.callCount else { return false }
        state.isOpen = false
        if failure.isLost { throw .unreachable }
        return true
    }

    func open() async throws(SpoolFailure) -> QueueFacts {
        let facts = state.withLock { state -> QueueFacts? in
            guard !state.isAway else { return nil }
            state.isOpen = true
            return state.facts
        }
        guard let facts else { throw .unreachable }
        return facts
    }

    func close() async { state.withLock { $0.isOpen = false } }

    func lastID(of table: SpoolTable) async throws(SpoolFailure) -> Int64? {
        try access { state in
            state.tables[table]?.filter { $0.value.state == "submitted" }.keys.max()
        }
    }

    func page(
        of table: SpoolTable,
        in range: ClosedRange<Int64>,
        limit: Int
    ) async throws(SpoolFailure) -> QueuePage {
        try access { state in
            let ids = (state.tables[table] ?? [:])
                .filter { $0.value.state == "submitted" && range.contains($0.key) }.keys.sorted()
                .prefix(limit)
            if table == .requests { state.offered += ids }
            return QueuePage(
                rows: ids.compactMap { id in
                    state.tables[table]?[id].map { Self.row(table, id, $0) }
                },
                oversizedCount: 0,
                lastID: ids.last
            )
        }
    }

    func change<Value: Sendable>(
        _ table: SpoolTable,
        rows ids: [Int64],
        _ decide: @escaping @Sendable ([QueueRow]) -> ([QueueChange], Value)
    ) async throws(SpoolFailure) -> Value {
        try access { state in
            let rows = ids.compactMap { id in
                state.tables[table]?[id].map { Self.row(table, id, $0) }
            }
            let (changes, value) = decide(rows)
            for change in changes { Self.apply(change, to: &state.tables) }
            return value
        }
    }

    func awaitChange(within time: Duration) async -> QueueWait {
        for await _ in wakes { return state.withLock { $0.isAway } ? .failed : .changed }
        return .quiet
    }

    private func access<Value: Sendable>(
        _ body: (inout State) -> Value
    ) throws(SpoolFailure) -> Value {
        let result = state.withLock { state -> Result<Value, SpoolFailure> in
            do throws(SpoolFailure) {
                let failsAfter = try begin(&state)
                let value = body(&state)
                return failsAfter ? .failure(.unreachable) : .success(value)
            } catch {
                return .failure(error)
            }
        }
        if case .failure = result { wake.yield() }
        return try result.get()
    }

    private static func row(_ table: SpoolTable, _ id: Int64, _ row: Row) -> QueueRow {
        QueueRow(
            id: id,
            cells: table.inputColumns.map { row.cells[$0] },
            state: row.state,
            requestID: row.requestID
        )
    }

    private static func apply(_ change: QueueChange, to tables: inout [SpoolTable: [Int64: Row]]) {
        switch change {
        case .show(let id, let request, let state, let detail, _, let isErased):
            var row = tables[.requests]?[id]
            row?.requestID = request
            row?.state = state
            row?.detail = detail
            if isErased { row?.cells["user_id"] = "erased:" + (request ?? "") }
            tables[.requests]?[id] = row
        case .scrub(let id, let state, let detail):
            var row = tables[.credentials]?[id]
            row?.state = state
            row?.detail = detail
            row?.cells = ["user_id": "\(state):\(id)"]
            tables[.credentials]?[id] = row
        }
    }
}
