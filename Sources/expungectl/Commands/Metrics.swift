import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct Metrics: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the metrics as OpenMetrics text."
    )

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let text = try await global.withClient { try await $0.metrics() }
        Console.write(text.hasSuffix("\n") ? String(text.dropLast()) : text)
    }
}
