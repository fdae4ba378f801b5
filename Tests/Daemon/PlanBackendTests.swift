import Control
import Engine
import Lifecycle
import Testing

@testable import Daemon

/// A store that plans nothing, for a reason.
private struct UnplannedStore: StubStore {
    let name = StoreName("app-db")
    let failure: EffectFailure

    func plan(_ order: PurgeOrder) async -> PlanAnswer { .failure(failure) }
}

@Suite("Plans over the control API") struct PlanBackendTests {
    private static let settings = """
        [[store]]
        name = "app-db"
        kind = "sqlite"
        path = "/srv/app.db"
        [[store.table]]
        table = "users"
        column = "id"
        action = "delete"

        """

    @Test(
        "a plan that cannot be made says why, and to come again only where that helps",
        arguments: [
            (EffectFailure.unreachable, ControlProblem.Code.unavailable, "cannot be asked now"),
            (.throttled(retryAfter: nil), .unavailable, "throttled"),
            (.misconfigured, .planRefused, "store 'app-db': misconfigured"),
            (
                .blocked(Obstacle(.spelling, at: "users", name: "id")), .planRefused,
                "other_spelling: column 'id' of 'users' spells the value otherwise"
            ),
        ]
    )
    func failures(failure: EffectFailure, code: ControlProblem.Code, words: String) async throws {
        let name = StoreName("app-db")
        let store = UnplannedStore(failure: failure)
        let backend = try Bench().backend(more: Self.settings, stores: [name: store])
        let caller = Caller(role: .operator, uid: 0, operatorUID: 1000)
        let user = try #require(UserID("alice"))
        do {
            _ = try await backend.makePlan(for: user, caller: caller)
            Issue.record("planned")
        } catch {
            let problem = error
            #expect(problem.code == code && problem.detail.contains(words), "\(problem)")
            #expect((problem.retryAfter != nil) == (code == .unavailable))
        }
    }
}
