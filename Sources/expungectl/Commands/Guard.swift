import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct Guard: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Open the guard against mass deletion.",
        subcommands: [Override.self]
    )

    struct Override: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Open the guard once, within an hour, for a number of deletions."
        )

        @Option(name: .long, help: "Deletions beyond the limit (default: as many as wait).")
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
