import HTTP
import Lifecycle
import Programs

/// A program that deals with a store: one run per question.
struct CommandDelegate: PurgeDelegate {
    /// One process at a time; a program that can do more is a service.
    let concurrency = 1
    let runner: ProgramRunner

    func ask(_ question: DelegatedQuestion) async -> ObjectReply {
        await runner.run(question.body)
    }

    func shutdown() async {}

    func advice(_ failure: EffectFailure) -> String {
        switch failure {
        case .misconfigured:
            "the program cannot be started, or says that it is set up wrongly (program, exit 78)"
        case .unreachable: "the program says that its store cannot be reached (exit 69)"
        case .throttled: "the program says that its store is overloaded"
        case .lost: "the program failed, took too long or wrote too much (timeout, memory_max_mib)"
        case .unusable, .rejected, .refused, .refusesAll, .sealBroken, .vaultSealed, .keys,
            .blocked:
            "the program's answer to 'diagnose' is no JSON object with a known outcome"
        }
    }
}
