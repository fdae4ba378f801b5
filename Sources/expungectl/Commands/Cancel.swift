import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct Cancel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stop a request before its purge."
    )

    @Argument(help: RequestArgument.help)
    var id: RequestArgument
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let request = try await global.withClient { try await $0.act(.cancel, on: id.id) }
        try global.print(request, RequestReport.list([request]))
    }
}
