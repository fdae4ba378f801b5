import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct DeleteAccount: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete-account",
        abstract: "Revoke a user's tokens at every provider, then erase the user's data."
    )

    @Argument(help: UserArgument.help)
    var user: UserArgument
    @OptionGroup var submit: SubmitOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await submit.submit(.deleteAccount, user: user.user, providers: [], global)
    }
}
