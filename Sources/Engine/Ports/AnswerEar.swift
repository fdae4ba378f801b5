package import Lifecycle
import Synchronization

/// Hears what vendors answer to the calls of a task and its children.
///
/// Adapters say what an answer means; the answer itself is for people alone and takes this way.
package final class AnswerEar: Sendable {
    @TaskLocal package static var current: AnswerEar?

    /// Whether calls with a made-up token, or without any, count, too.
    package let hearsProbes: Bool
    private let last = Mutex<VendorAnswer?>(nil)

    package init(hearsProbes: Bool = false) { self.hearsProbes = hearsProbes }

    package var answer: VendorAnswer? { last.withLock { $0 } }

    /// Replaces what was heard before; `nil` for a call without an answer.
    package func note(_ answer: VendorAnswer?) { last.withLock { $0 = answer } }
}

extension IdentityProvider {
    /// ``problem()``, with what the provider answered.
    package func examine() async -> ProviderProblem? {
        let ear = AnswerEar(hearsProbes: true)
        let found = await AnswerEar.$current.withValue(ear) { await problem() }
        return found?.adding(ear.answer)
    }
}

extension ProviderProblem {
    fileprivate func adding(_ answer: VendorAnswer?) -> ProviderProblem {
        guard let answer, !text.isEmpty else { return self }
        switch failure {
        case .unreachable, .lost, .notConfigured, .sealBroken, .vaultSealed, .keys, .blocked:
            return self
        case .throttled, .unusable, .rejected, .refused, .refusesAll, .misconfigured:
            return ProviderProblem(failure, answer.added(to: text))
        }
    }
}
