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

        @Option(name: .long, help: "So many beyond the limit (default: as many as wait).")
        var count: Int?
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            guard count.map({ (1...Int(ControlLimits.overrideMax)).contains($0) }) ?? true else {
                throw ValidationError("--count takes 1 to \(ControlLimits.overrideMax)")
            }
        }

        func run() async throws {
            let input = OverrideInput(count: count)
            let state = try await global.withClient { try await $0.overrideGuard(input) }
            try global.print(state, HealthReport.guardLine(state))
        }
    }
}
