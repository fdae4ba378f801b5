import Engine
import HTTP
import Lifecycle
import Programs
package import Settings

/// A program of the operator's own that deals with some other store.
package struct CommandStore: DelegatedStore {
    package static let name = "command"
    package static let summary = "a program of your own"
    package static let traits = StoreTraits(listsUsers: true, supportsDrills: true)

    package static let settings: [Setting] = [
        Setting(
            .target,
            "program",
            .text(.path),
            .required(example: .text("/usr/local/lib/expunged/purge-crm")),
            "Program that purges the store, started for each user (docs/guides/command-target.md)."
        ).atRestart(),
        Setting(
            .target,
            "arguments",
            .texts(.sentence, 0...16),
            .defaultsTo(.texts([])),
            "Arguments for every call. Other processes can read them: no secrets here."
        ).atRestart(),
        Setting(
            .target,
            "timeout",
            .duration(.seconds(1) ... .seconds(3600)),
            .defaultsTo(.duration(.seconds(60))),
            "Time for one run. The service then ends it with all processes that it started."
        ).atRestart().outsidePlans(),
        Setting(
            .target,
            "memory_max_mib",
            .count(16...65_536, unit: "MiB"),
            .defaultsTo(.count(256)),
            "Private memory of the program and of each process that it starts (RLIMIT_DATA)."
        ).atRestart().outsidePlans(),
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

    package func open(_ environment: StoreEnvironment) throws -> DelegatedTarget {
        let runner = ProgramRunner(
            program: program,
            arguments: arguments,
            timeout: timeout,
            memoryMax: memoryMax,
            clock: AnchoredClock()
        )
        guard let runner else {
            throw StoreSetupError(environment.name, "program must be an absolute path")
        }
        return DelegatedTarget(
            name: environment.name,
            delegate: CommandDelegate(runner: runner),
            clock: environment.clock,
            copy: copy
        )
    }
}
