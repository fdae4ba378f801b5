package import Lifecycle
import Synchronization

/// Records what a vendor answers to the calls of a task and its children.
///
/// Adapters say what an answer means; the answer itself is for people alone and takes this way.
package final class AnswerRecorder: Sendable {
    /// What the calls are made for.
    package enum Purpose: Sendable {
        /// The user's own token; probes do not count.
        case token
        /// The same for a code, of whose answer no words are kept.
        case code
        /// A look at the set-up, in which probes count, too.
        case check
    }

    @TaskLocal package static var current: AnswerRecorder?

    package let purpose: Purpose
    private let last = Mutex<VendorAnswer?>(nil)

    package init(_ purpose: Purpose) { self.purpose = purpose }

    package var lastAnswer: VendorAnswer? { last.withLock { $0 } }

    /// Replaces what was recorded before; `nil` for a call without an answer.
    package func record(_ answer: VendorAnswer?) { last.withLock { $0 = answer } }

    /// Makes calls that are not about the user's own token: only a check records their answers.
    package static func probing<Result>(_ calls: () async -> Result) async -> Result {
        let recorder = current.flatMap { $0.purpose == .check ? $0 : nil }
        return await $current.withValue(recorder) { await calls() }
    }
}

extension IdentityProvider {
    /// ``problem()``, with what the provider answered.
    package func examine() async -> ProviderProblem? {
        let recorder = AnswerRecorder(.check)
        let found = await AnswerRecorder.$current.withValue(recorder) { await problem() }
        guard let found, let answer = recorder.lastAnswer, !found.text.isEmpty else { return found }
        switch found.failure {
        case .unreachable, .lost, .notConfigured, .sealBroken, .vaultSealed, .keys, .blocked:
            return found
        case .throttled, .unusable, .rejected, .refused, .refusesAll, .misconfigured:
            let text = answer.beside(found.named).added(to: found.text)
            return ProviderProblem(found.failure, text, naming: found.named)
        }
    }
}
