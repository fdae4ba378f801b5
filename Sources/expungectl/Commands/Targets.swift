import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct Targets: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the targets, or pause, resume or check one.",
        subcommands: [List.self, Pause.self, Resume.self, Check.self],
        defaultSubcommand: List.self
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show every target.")

        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let page = try await global.withClient { try await $0.targets() }
            try global.print(page, HealthReport.list(page.items))
        }
    }

    struct Pause: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Start no new work there.")

        @OptionGroup var choice: Choice

        func run() async throws { try await choice.run(.pause) }
    }

    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Start work there again.")

        @OptionGroup var choice: Choice

        func run() async throws { try await choice.run(.resume) }
    }

    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Ask it now whether it works.")

        @OptionGroup var choice: Choice

        func run() async throws { try await choice.run(.check) }
    }

    /// Which target, and what to do with it.
    struct Choice: ParsableArguments {
        @Argument(help: "The target.")
        var name: NameArgument
        @OptionGroup var global: GlobalOptions

        func run(_ action: ComponentAction) async throws {
            let health = try await global.withClient { client in
                try await client.control(action, target: TargetName(name.name))
            }
            try global.print(health, HealthReport.one(health))
            if action == .check, !health.findings.isEmpty { throw EndCode.failure }
        }
    }
}
