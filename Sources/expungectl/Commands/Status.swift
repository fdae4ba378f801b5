import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show the state of the service.")

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let status = try await global.withClient { try await $0.status() }
        try global.print(status, HealthReport.status(status))
    }
}
