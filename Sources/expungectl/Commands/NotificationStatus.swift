import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct NotificationStatus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notification-status",
        abstract: "Show the text of the status page for a confirmation code."
    )

    @Argument(help: "The provider that got the code.")
    var provider: NameArgument
    @Argument(help: "The confirmation code.")
    var code: String
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let status = try await global.withClient { [provider, code] client in
            try await client.notificationStatus(code, provider: ProviderName(provider.name))
        }
        let state = Table.harmless("\(status.state)")
        try global.print(status, "\(state)\n\(Table.harmless(status.text))")
    }
}
