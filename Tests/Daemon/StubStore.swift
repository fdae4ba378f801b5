import Engine
import Lifecycle

/// A store that does its work, has no problems and plans nothing.
protocol StubStore: PurgeStore {}

extension StubStore {
    func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        orders.map { _ in .done(PurgeCounts()) }
    }

    func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer] { orders.map { _ in .clean } }
    func plan(_ order: PurgeOrder) async -> PlanAnswer { .unknown }
    func inspect(withOutages: Bool) async -> StoreFindings { StoreFindings(problems: []) }
    func shutdown() async {}
}
