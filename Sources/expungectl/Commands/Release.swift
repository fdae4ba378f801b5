import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct Release: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lift the hold on a request, a user or a target."
    )

    @Argument(help: RequestArgument.help)
    var id: RequestArgument?
    @Option(name: .long, help: "A user (- to read the id) instead of a request.")
    var user: UserArgument?
    @Option(name: .long, help: "A hold on a target, by its name.")
    var hold: NameArgument?
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard [id != nil, user != nil, hold != nil].count(where: { $0 }) == 1 else {
            throw ValidationError("name either a request, a --user or a --hold")
        }
    }

    func run() async throws {
        if let id {
            let request = try await global.withClient { try await $0.act(.release, on: id.id) }
            try global.print(request, RequestReport.list([request]))
        } else if let user {
            let hold = try await global.withClient { try await $0.releaseUser(user.user) }
            try global.print(hold, hold.isHeld ? "still held" : "released")
        } else if let hold {
            let lifted = try await global.withClient { try await $0.liftHold(hold.name) }
            try global.print(lifted, "released")
        }
    }
}
