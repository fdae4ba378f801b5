import Engine
import Lifecycle

/// A store that has no problems and nothing to plan.
protocol StubStore: PurgeStore {}

extension StubStore {
    func plan(_ order: PurgeOrder) async -> PlanAnswer { .unknown }
    func inspect(withOutages: Bool) async -> StoreFindings { StoreFindings(problems: []) }
    func shutdown() async {}
}
