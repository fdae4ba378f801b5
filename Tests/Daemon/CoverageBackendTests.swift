import Control
import Encoding
import Engine
import Lifecycle
import Storage
import Testing

@testable import Daemon

/// A store that works, and that cannot be searched.
struct OpaqueStore: StubStore {
    let name = StoreName("app-db")
}

/// The same, with a fixed answer to a search.
private struct SearchedStore: StubStore, CoverageSearching {
    let name = StoreName("app-db")
    let answer: CoverageAnswer
    var location: String?
    var meanwhile: @Sendable () -> Void = {}

    func coverage() async -> CoverageAnswer {
        meanwhile()
        return answer
    }
}

@Suite("Looking for user data over the control API") struct CoverageBackendTests {
    private static let settings = """
        [[store]]
        name = "app-db"
        kind = "sqlite"
        path = "/srv/app.db"
        [[store.table]]
        table = "orders"
        column = "buyer"
        action = "delete"
        """

    private static let files = """
        [[store]]
        name = "app-db"
        kind = "files"
        root = "/srv/uploads"
        paths = ["{user_id}"]
        """

    private static let name = StoreName("app-db")
    private static let caller = Caller(role: .operator, uid: 0, operatorUID: 1000)
    private static let otherSettings = settings.replacing("\"orders\"", with: "\"bills\"")

    private static func backend(
        _ store: any PurgeStore,
        on bench: Bench,
        _ settings: String = settings
    ) throws -> DaemonBackend {
        try bench.backend(more: settings, stores: [name: store], clock: StillClock())
    }

    private func check(_ store: any PurgeStore) async throws -> WireHealth {
        try await check(Self.backend(store, on: Bench()))
    }

    private func check(_ backend: DaemonBackend) async throws -> WireHealth {
        try await withThrowingTaskGroup { group in
            group.addTask { try await backend.parts.engine.run() }
            defer { group.cancelAll() }
            return try await backend.control(.check, store: Self.name, caller: Self.caller)
        }
    }

    @Test func `a store that cannot be looked through is no store in which nothing was found`()
        async throws
    {
        let failed = try await check(SearchedStore(answer: .failure(.unreachable)))
        #expect(failed.uncovered == nil)
        #expect(failed.findings == ["it cannot be looked through for user data: unreachable"])
        let unmapped = CoverageFinding(.open, "logs/", "no rule leads there")
        let found = try await check(SearchedStore(answer: .findings([unmapped])))
        #expect(found.uncovered == ["logs/: no rule leads there"] && found.findings.isEmpty)
        let part = CoverageFinding(.sampled, "users", "20 of 30 were looked into")
        let sampled = try await check(SearchedStore(answer: .findings([part])))
        #expect(sampled.uncovered == [] && sampled.sampled == ["users: 20 of 30 were looked into"])
        #expect(found.sampled == nil)
        let unknown = try await check(OpaqueStore())
        #expect(unknown.uncovered == nil && unknown.findings.isEmpty)
    }

    @Test func `receipts have what the last search found, until rules change`() async throws {
        let bench = try Bench()
        let found = (101...152).map { number in
            CoverageFinding(.open, "logs.user_\(number)", "named so")
        }
        let backend = try Self.backend(SearchedStore(answer: .findings(found)), on: bench)
        let other = try Self.backend(OpaqueStore(), on: bench, Self.otherSettings)
        let adapters = [backend, other].map(\.parts.registry.current)
        try await adapters[0].enforceScope(in: bench.state)
        let before = try await ErasureScopeTests.complete("alice", on: bench)
        _ = try await check(backend)
        let after = try await ErasureScopeTests.complete("bob", on: bench)
        let record = try #require(try await bench.state.requestRecord(after))
        let document = try #require(try await bench.state.scope(of: after))
        let statement = ReceiptStatement(
            request: record.request,
            scope: try ErasureScope(document: document)
        )
        let leaf = try #require(try await bench.state.ledgerRows(from: 0).last?.leaves.last)
        #expect(String(decoding: leaf, as: UTF8.self).contains(Base64URL.text(statement.digest)))
        // As at a start.
        try await adapters[0].enforceScope(in: bench.state)
        let restarted = try await ErasureScopeTests.complete("carol", on: bench)
        try await adapters[1].enforceScope(in: bench.state)
        let changed = try await ErasureScopeTests.complete("dave", on: bench)
        for id in [before, after, restarted, changed] {
            let isSearched = id == after || id == restarted
            let receipt = try await backend.receipt(id, caller: Self.caller)
            let store = try #require(receipt["stores"]?.array?.first)
            let day = isSearched ? String(Bench.start.rfc3339.prefix(10)) : nil
            #expect(store["searched_on"]?.string == day)
            #expect(store["unmapped"]?.array?.count == (isSearched ? 50 : nil))
            #expect(store["unmapped_more"]?.number == (isSearched ? 2 : nil))
            #expect(store["verified"] == true)
            let summary = try #require(receipt["summary"]?.string)
            let names = (101...105).map { "logs.user_\($0)" }.joined(separator: ", ")
            let sentence =
                "NOT looked for in 'app-db', since no rule reaches it: \(names), 47 other"
            #expect(summary.contains(sentence) == isSearched)
            let unsearched = "NOT examined for data that no rule reaches: 'app-db'"
            #expect(summary.contains(unsearched) == !isSearched)
        }
    }

    @Test func `what an earlier search found stays where a later one did not read`() async throws {
        let bench = try Bench()
        let open = ["letters.recipient", "logs.actor"].map {
            CoverageFinding(.open, $0, "named so")
        }
        let unread = CoverageFinding(.unread, "letters", "locked")
        let backend = try Self.backend(SearchedStore(answer: .findings([unread])), on: bench)
        _ = try await check(Self.backend(SearchedStore(answer: .findings(open)), on: bench))
        let health = try await check(backend)
        #expect(health.findings.isEmpty && health.sampled == nil)
        #expect(health.unexamined == ["letters: locked"])
        #expect(health.summary?.contains("could not be searched for user data: letters") == true)
        // One that fails changes nothing.
        let failing = SearchedStore(answer: .failure(.unreachable))
        _ = try await check(Self.backend(failing, on: bench))
        let id = try await ErasureScopeTests.complete("alice", on: bench)
        let receipt = try await backend.receipt(id, caller: Self.caller)
        let store = try #require(receipt["stores"]?.array?.first)
        #expect(store["unmapped"]?.array?.map(\.string) == ["letters.recipient"])
        #expect(store["unexamined"]?.array?.map(\.string) == ["letters"])
        #expect(store["unexamined_more"]?.number == 0)
        let summary = try #require(receipt["summary"]?.string)
        #expect(summary.contains("NOT examined for data that no rule reaches: 'app-db' (letters)"))
    }

    /// What receipts have after one more search.
    private func unmapped(
        _ found: [CoverageFinding],
        on bench: Bench,
        _ settings: String = CoverageBackendTests.settings
    ) async throws -> ErasureScope.Places {
        let store = SearchedStore(answer: .findings(found))
        _ = try await check(Self.backend(store, on: bench, settings))
        let scope = try ErasureScope(document: await bench.state.enforcedScope())
        return try #require(scope.stores.first?.search).unmapped
    }

    @Test func `searches in part leave the number of places as it is`() async throws {
        let bench = try Bench()
        let found = (1001...2200).map { CoverageFinding.open("logs.user_\($0)", "named so") }
        let unread = CoverageFinding(.unread, CoverageFinding.everywhere, "locked")
        let part = Array(found.suffix(600)) + [unread]
        for searched in [found, part, part] {
            let places = try await unmapped(searched, on: bench)
            #expect(places.names.count == 1000 && places.rest == 200)
        }
    }

    @Test func `of a store without tables, a search in part leaves the number, too`() async throws {
        let (bench, settings) = try (Bench(), Self.files)
        let found = ["a/", "b/", "c/"].map { CoverageFinding.open($0, "no rule leads there") }
        let part = [CoverageFinding(.unread, "a/", "locked")]
        for searched in [found, part, Array(found.prefix(1)) + part] {
            #expect(try await unmapped(searched, on: bench, settings).rest == 3)
        }
        #expect(try await unmapped([], on: bench, settings).rest == 0)
    }

    @Test func `what is gone when a place was read in part is not kept`() async throws {
        let part = CoverageFinding.samples([CoverageFinding.everywhere: "only names"])
        for settings in [Self.settings, Self.files] {
            let bench = try Bench()
            let before = [CoverageFinding.open("logs.actor", "named so")] + part
            #expect(try await unmapped(before, on: bench, settings).text != nil)
            #expect(try await unmapped(part, on: bench, settings).text == nil)
        }
    }

    @Test func `a search counts for one database, also while it is unknown which`() async throws {
        let bench = try Bench()
        let locations = ["dbname=a", nil, "dbname=a", "dbname=b"]
        let backends = try locations.map { location in
            let store = SearchedStore(answer: .findings([]), location: location)
            return try Self.backend(store, on: bench)
        }
        _ = try await check(backends[0])
        for (backend, location) in zip(backends, locations) {
            try await backend.parts.registry.current.enforceScope(in: bench.state)
            let scope = try ErasureScope(document: await bench.state.enforcedScope())
            let isSearched = scope.stores.first?.search != nil
            #expect(isSearched == (location != "dbname=b"))
        }
    }

    @Test func `a search during which other rules came into force is not recorded`() async throws {
        let bench = try Bench()
        let other = try Self.backend(OpaqueStore(), on: bench, Self.otherSettings)
        let next = other.parts.registry.current
        let registry = Latest<AdapterRegistry?>(nil)
        let store = SearchedStore(answer: .findings([])) { _ = registry.value?.replace(with: next) }
        let backend = try Self.backend(store, on: bench)
        registry.value = backend.parts.registry
        _ = try await check(backend)
        #expect(try await bench.state.enforcedScope() == nil)
    }

    @Test func `places of a store without tables are counted and not named`() throws {
        let store = try #require(try Bench.configuration(Self.files).stores.first)
        let found = ["alice/", "alice/", "bob/"].map {
            CoverageFinding(.open, $0, "no rule leads there")
        }
        let cases: [(Int, String?)] = [(0, nil), (1, "1 other place"), (3, "2 other places")]
        for (count, said) in cases {
            let part = Array(found.prefix(count))
            let report = CoverageReport(part, StoreFindings(problems: []))
            let places = ErasureScope.Search(report, in: store, at: Bench.start).unmapped
            let hint = " (run: expungectl stores check)"
            #expect(places.names.isEmpty && places.text == said.map { $0 + hint })
        }
    }

    @Test func `names of places are bounded in number and length`() throws {
        let store = try #require(try Bench.configuration(Self.settings).stores.first)
        let name = { (number: Int) in "logs.\(number)" + String(repeating: "n", count: 300) }
        let found = (1001...2010).map { number in
            CoverageFinding(.open, name(number), "named so")
        }
        let report = CoverageReport(found, StoreFindings(problems: []))
        let places = ErasureScope.Search(report, in: store, at: Bench.start).unmapped
        #expect(places.names.count == 1000 && places.rest == 10)
        #expect(places.shown.count == 50 && places.moreCount == 960)
        #expect(places.names.allSatisfy { $0.count == 200 })
    }

    @Test func `stores are searchable or not by their kind`() throws {
        let text = """
            [[store]]
            name = "crm"
            kind = "command"
            program = "/usr/local/bin/erase"
            """
        let configuration = try Bench.configuration(Self.settings + "\n" + text)
        let scope = ErasureScope(configuration, [:])
        #expect(scope.stores.map(\.isSearchable) == [true, false])
    }
}
