import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct Identities: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List a user's identities, never their secrets."
    )

    @Argument(help: UserArgument.help)
    var user: UserArgument
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let page = try await global.withClient { try await $0.identities(of: user.user) }
        try global.print(page, RequestReport.identities(page.items))
    }
}
