import Synchronization

final class FaultInjector: Sendable {
    private struct State {
        var plan: FaultPlan
        var calls: UInt64 = 0
        var injected = 0
    }

    typealias Fault = (kind: FaultKind, plan: FaultPlan)

    private let state: Mutex<State>

    init(plan: FaultPlan) { state = Mutex(State(plan: plan)) }

    var plan: FaultPlan { state.withLock { $0.plan } }

    func start(_ plan: FaultPlan) { state.withLock { $0 = State(plan: plan) } }

    /// Whether a call sends a token that the plan calls unserviceable.
    func refuses(_ body: [UInt8], at endpoint: SandboxEndpoint) -> Bool {
        let plan = state.withLock { $0.plan }
        let tokens = plan.unserviceable
        guard !tokens.isEmpty, plan.endpoints.contains(endpoint) else { return false }
        // As a form's field, or anywhere in another body.
        let form = ParsedForm(body)
        let fields = ["token", "refresh_token", "access_token"].compactMap { form[$0] }
        let text = String(decoding: body, as: UTF8.self)
        return tokens.contains { fields.contains($0) || text.contains($0) }
    }

    func decide(_ provider: String, _ endpoint: SandboxEndpoint) -> Fault? {
        state.withLock { state in
            guard state.plan.endpoints.contains(endpoint),
                state.plan.providers?.contains(where: { $0.rawValue == provider }) ?? true
            else { return nil }
            let number = state.calls
            state.calls += 1
            guard state.injected < state.plan.limit ?? .max,
                let kind = state.plan.fault(forCall: number)
            else { return nil }
            state.injected += 1
            return (kind: kind, plan: state.plan)
        }
    }
}
