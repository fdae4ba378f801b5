import Engine
import Lifecycle
import Testing

@testable import Storage

@Suite(.onEachDatabase)
struct StateHoldTests {
    @Test func `holds on stores are kept in order, with their rows, until they are lifted`()
        async throws
    {
        let fixture = try StateFixture()
        let whole = StoreHold(
            name: "z",
            store: StoreName("app-db"),
            since: StateFixture.start,
            uid: 4_294_967_290
        )
        let filter = RowFilter(
            table: "or\"ders",
            conditions: [
                RowFilter.Condition(column: "status", values: ["disputed", "it's \"é\""]),
                RowFilter.Condition(column: "region", values: [""]),
            ]
        )
        let rows = StoreHold(
            name: "a",
            store: StoreName("app-db"),
            rows: filter,
            reason: "case 7",
            since: StateFixture.start + .seconds(1),
            uid: 1000
        )
        _ = try await fixture.database.commit([.placeHold(whole), .placeHold(rows)])
        #expect(try await fixture.database.pauses().holds == [whole, rows])
        _ = try await fixture.database.commit([.liftHold(whole, by: 7, at: StateFixture.start)])
        #expect(try await fixture.database.pauses().holds == [rows])
        let leaves = try await fixture.database.read { database in
            try database.all("SELECT leaves FROM ledger ORDER BY first") {
                String(decoding: $0.blob(), as: UTF8.self)
            }
        }.joined()
        for event in ["store_held", "store_released"] { #expect(leaves.contains(event)) }
        #expect(!leaves.contains("disputed"))
    }

    @Test func `holds on users are listed with reason, time and operator, until they are lifted`()
        async throws
    {
        let state = try StateFixture().database
        let (first, second) = (StateFixture.hash("v"), StateFixture.hash("u"))
        let later = StateFixture.start + .seconds(1)
        _ = try await state.holdUser(second, reason: "case 8", by: 1001, at: later)
        _ = try await state.holdUser(first, by: 1000, at: StateFixture.start)
        _ = try await state.holdUser(first, reason: "case 7", by: 1002, at: later)
        _ = try await state.holdUser(first, by: 1002, at: later)
        let holds = try await state.userHolds()
        #expect(holds.map(\.userHash) == [first, second])
        #expect(holds.map(\.reason) == ["case 7", "case 8"])
        #expect(holds.map(\.since) == [StateFixture.start, later])
        #expect(holds.map(\.uid) == [1000, 1001])
        #expect(try await state.userHold(first) == holds[0])
        let released = try await state.releaseUser(first, by: 1000, at: later)
        #expect(released.reason == "case 7" && released.since == StateFixture.start)
        #expect(try await state.userHolds().map(\.userHash) == [second])
    }
}
