import Engine
import HTTP
import Lifecycle
import Programs
package import Settings

/// A program of the operator's own that deals with some other store.
package struct CommandStoreKind: DelegatedKind {
    package static let name = "command"
    package static let summary = "a program of your own"
    package static let traits = StoreTraits()

    package static let settings: [Setting] = [
        Setting(
            .store,
            "program",
            .text(.path),
            .required(example: .text("/usr/local/lib/expunged/purge-crm")),
            "Program that purges the store (docs/stores/command.md)."
        ),
        .programArguments(.store),
        Setting(
            .store,
            "timeout",
            .duration(.seconds(1) ... .seconds(3600)),
            .defaultsTo(.duration(.seconds(60))),
            "Time for one run."
        ).outsidePlans(),
        Setting(
            .store,
            "memory_max_mib",
            .count(16...65_536, unit: "MiB"),
            .defaultsTo(.count(256)),
            "Private memory of each process (RLIMIT_DATA)."
        ).outsidePlans(),
    ]

    /// Absolute.
    package let program: String
    package let arguments: [String]
    package let timeout: Duration
    /// Bytes.
    package let memoryMax: Int
    var copy: String?

    package init(_ section: inout SettingsSection, _ problems: inout SectionProblems) {
        problems.refuseTables("the program knows its store; it has no tables here")
        program = section.requiredText("program")
        arguments = section.texts("arguments")
        timeout = section.duration("timeout")
        memoryMax = section.requiredCount("memory_max_mib") << 20
    }

    package func open(_ environment: StoreEnvironment) throws -> DelegatedStore {
        let runner = ProgramRunner(
            program: program,
            arguments: arguments,
            timeout: timeout,
            memoryMax: memoryMax
        )
        guard let runner else {
            throw StoreSetupError(environment.name, "program must be an absolute path")
        }
        return DelegatedStore(
            name: environment.name,
            delegate: CommandDelegate(runner: runner),
            clock: environment.clock,
            copy: copy
        )
    }
}

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
            .blocked, .notConfigured:
            "the program's answer to 'diagnose' is no JSON object with a known outcome"
        }
    }
}
