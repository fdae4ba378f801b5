import Control
import Engine
import Lifecycle
import Storage
import Testing

@testable import Daemon

/// A store that works, and that cannot be searched.
struct OpaqueStore: StubTarget {
    let name = TargetName("app-db")
}

/// The same, with a fixed answer to a search.
private struct SearchedStore: StubTarget, CoverageSearching {
    let name = TargetName("app-db")
    let answer: CoverageAnswer

    func coverage() async -> CoverageAnswer { answer }
}

@Suite("Looking for user data over the control API") struct CoverageBackendTests {
    private static let settings = """
        [[target]]
        name = "app-db"
        kind = "sqlite"
        path = "/srv/app.db"
        [[target.table]]
        table = "orders"
        column = "buyer"
        action = "delete"
        """

    private func check(_ store: any PurgeTarget) async throws -> WireHealth {
        let name = TargetName("app-db")
        let backend = try Bench().backend(
            more: Self.settings,
            targets: [name: store],
            clock: StillClock()
        )
        let caller = Caller(role: .operator, uid: 0, operatorUID: 1000)
        return try await withThrowingTaskGroup { group in
            group.addTask { try await backend.parts.engine.run() }
            defer { group.cancelAll() }
            return try await backend.control(.check, target: name, caller: caller)
        }
    }

    @Test func `a store that cannot be looked through is no store in which nothing was found`()
        async throws
    {
        let failed = try await check(SearchedStore(answer: .failure(.unreachable)))
        #expect(failed.uncovered == nil)
        #expect(failed.findings == ["it cannot be looked through for user data: unreachable"])
        let unmapped = CoverageFinding(
            name: "logs/",
            reason: "no rule leads there",
            isCovered: false
        )
        let found = try await check(SearchedStore(answer: .findings([unmapped])))
        #expect(found.uncovered == ["logs/: no rule leads there"] && found.findings.isEmpty)
        let part = CoverageFinding(
            name: "users",
            reason: "20 of 30 were looked into",
            isCovered: true,
            isSample: true
        )
        let sampled = try await check(SearchedStore(answer: .findings([part])))
        #expect(sampled.uncovered == [] && sampled.sampled == ["users: 20 of 30 were looked into"])
        #expect(found.sampled == nil)
        let unknown = try await check(OpaqueStore())
        #expect(unknown.uncovered == nil && unknown.findings.isEmpty)
    }
}
