import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct Hold: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stop a request, or everything of a user, until it is released."
    )

    @Argument(help: "The request.")
    var id: RequestArgument?
    @Option(name: .long, help: "A user (- to read the id) instead of a request: a legal hold.")
    var user: UserArgument?
    @Option(name: .long, help: "Why; no personal data.")
    var reason: String?
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard (id == nil) != (user == nil) else {
            throw ValidationError("name either a request or a --user")
        }
    }

    func run() async throws {
        if let id {
            let request = try await global.withClient { client in
                try await client.act(.hold(reason: reason), on: id.id)
            }
            try global.print(request, RequestReport.list([request]))
        } else if let user {
            let hold = try await global.withClient { client in
                try await client.holdUser(user.user, reason: reason)
            }
            try global.print(hold, "held, \(hold.requestIDs.count) open requests stopped")
        }
    }
}
