import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct Retry: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Try again now, whatever the request waits for."
    )

    @Argument(help: RequestArgument.help)
    var id: RequestArgument
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let request = try await global.withClient { try await $0.act(.retry, on: id.id) }
        try global.print(request, RequestReport.list([request]))
    }
}
