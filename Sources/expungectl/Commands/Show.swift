import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show one request: identities, verdicts, steps, attempts and times."
    )

    @Argument(help: RequestArgument.help)
    var id: RequestArgument
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let request = try await global.withClient { try await $0.show(id.id) }
        try global.print(request, RequestReport.full(request))
    }
}
