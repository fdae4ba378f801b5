import Ledger
import Lifecycle
import Synchronization
import Testing

@testable import Storage

@Suite(.onEachDatabase)
struct StateReplayTests {
    private static let store = StoreName("app-db")
    private static let other = StoreName("crm")

    private static func begun(_ number: UInt64) -> BegunErasure {
        BegunErasure(
            request: RequestID(TimeOrderedID(high: number, low: number)),
            hash: StateFixture.hash("user \(number)")
        )
    }

    private static func leaves(_ fixture: StateFixture) async throws -> [String] {
        try await fixture.database.ledgerRows(from: 0).flatMap(\.leaves)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `what is begun stays begun until it ends, each store for itself`() async throws {
        let fixture = try StateFixture()
        let state = fixture.database
        let (first, second) = (Self.begun(1), Self.begun(2))
        // Of the rows that its source brought back, whatever they named.
        let led = BegunErasure(request: first.request, hash: [])
        #expect(try await state.beginReplay(of: [first, led], in: Self.store) == [])
        #expect(try await state.beginReplay(of: [first, second], in: Self.store) == [first])
        #expect(try await state.beginReplay(of: [first], in: Self.other) == [])
        #expect(try await state.begunReplays(in: Self.store) == [led, first, second])
        let ended = EndedErasure(first, rows: 1, isResumed: false)
        try await state.endReplay(of: [ended], in: Self.store, at: StateFixture.start)
        #expect(try await state.begunReplays(in: Self.store) == [led, second])
        #expect(try await state.begunReplays(in: Self.other) == [first])
        try await state.forgetBegunReplays()
        #expect(try await fixture.int("SELECT count(*) FROM begun_replays") == 0)
    }

    @Test func `an entry tells how many rows went, and whether there may have been more`()
        async throws
    {
        let fixture = try StateFixture()
        let ended = [(3, false), (0, false), (0, true), (2, true)].enumerated().map { index, end in
            EndedErasure(Self.begun(UInt64(index)), rows: end.0, isResumed: end.1)
        }
        try await fixture.database.endReplay(of: ended, in: Self.store, at: StateFixture.start)
        let time = StateFixture.start.rfc3339
        let expected = [(0, "", ",\"rows\":3"), (2, "resumed", ""), (3, "resumed", ",\"rows\":2")]
            .map { index, detail, rows in
                (detail.isEmpty ? "{" : "{\"detail\":\"\(detail)\",")
                    + "\"event\":\"replayed\",\"request\":\"\(ended[index].begun.request)\"\(rows)"
                    + ",\"store\":\"app-db\",\"time\":\"\(time)\"}"
            }
        #expect(try await Self.leaves(fixture) == expected)
    }

    @Test func `a call of a store costs one commit before and one after it`() async throws {
        let commits = Counter()
        let fixture = try StateFixture(willCommit: { commits.add() })
        let all = (1...128).map { Self.begun($0) }
        let before = commits.count
        _ = try await fixture.database.beginReplay(of: all, in: Self.store)
        #expect(commits.count == before + 1)
        try await fixture.database.endReplay(
            of: all.map { EndedErasure($0, rows: 1, isResumed: false) },
            in: Self.store,
            at: StateFixture.start
        )
        #expect(commits.count == before + 2)
        #expect(try await fixture.database.begunReplays(in: Self.store) == [])
        #expect(try await Self.leaves(fixture).count == 128)
    }

    private final class Counter: Sendable {
        private let value = Mutex(0)
        var count: Int { value.withLock { $0 } }

        func add() { value.withLock { $0 += 1 } }
    }
}
