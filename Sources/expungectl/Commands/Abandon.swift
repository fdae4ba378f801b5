import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct Abandon: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Give up a revocation, a store whose key was not found, or the rechecks.",
        discussion: """
            What waited for it, such as the purge, begins at once and cannot be undone. The \
            receipt says abandoned.
            """
    )

    @Argument(help: RequestArgument.help)
    var id: RequestArgument
    @Option(name: .long, help: "The reason; it stays on the receipt: no personal data.")
    var reason: String
    @Option(name: .long, help: "Give up this provider only.")
    var provider: NameArgument?
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let request = try await global.withClient { client in
            try await client.act(
                .abandon(reason: reason, provider: provider.map { ProviderName($0.name) }),
                on: id.id
            )
        }
        try global.print(request, RequestReport.list([request]))
    }
}
