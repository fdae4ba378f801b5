import ArgumentParser
import Control
import ControlClient
import Lifecycle

/// The identifier of an identity on the command line.
struct IdentityArgument: ExpressibleByArgument {
    let id: IdentityID

    init?(argument: String) {
        guard let id = IdentityID(argument) else { return nil }
        self.id = id
    }
}

struct Forget: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Destroy an identity's credentials without revoking them."
    )

    @Argument(help: UserArgument.help)
    var user: UserArgument
    @Argument(help: "The identity.")
    var identity: IdentityArgument
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withClient { client in
            try await client.forgetIdentity(identity.id, of: user.user)
        }
        if !global.json { Console.write("forgotten") }
    }
}
