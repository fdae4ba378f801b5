import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct Approve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Approve the plan of a request, as another person than its submitter."
    )

    @Argument(help: RequestArgument.help)
    var id: RequestArgument
    @Option(name: .long, help: "The hash of the plan that you read.")
    var plan: String
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let request = try await global.withClient { client in
            try await client.act(.approve(plan: plan), on: id.id)
        }
        try global.print(request, RequestReport.list([request]))
    }
}
