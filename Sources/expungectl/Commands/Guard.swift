import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct Guard: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The guard against mass deletion.",
        subcommands: [Override.self]
    )

    struct Override: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Open it once, for a counted and expiring number of deletions."
        )

        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let state = try await global.withClient { try await $0.overrideGuard() }
            try global.print(state, HealthReport.guardLine(state))
        }
    }
}
