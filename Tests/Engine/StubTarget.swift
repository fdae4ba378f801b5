import Engine
import Lifecycle

/// A store that has no problems and nothing to plan.
protocol StubTarget: PurgeTarget {}

extension StubTarget {
    func plan(_ order: PurgeOrder) async -> PlanAnswer { .unknown }
    func inspect(withOutages: Bool) async -> TargetFindings { TargetFindings(problems: []) }
    func shutdown() async {}
}
