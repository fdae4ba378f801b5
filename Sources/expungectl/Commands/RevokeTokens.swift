import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct RevokeTokens: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke-tokens",
        abstract: "Revoke a user's tokens without erasing anything."
    )

    @Argument(help: UserArgument.help)
    var user: UserArgument
    @Option(name: .long, help: "Only this provider; may be given more than once.")
    var provider: [NameArgument] = []
    @OptionGroup var submit: SubmitOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await submit.submit(
            .revokeTokens,
            user: user.user,
            providers: provider.map(\.name),
            global
        )
    }
}
