import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct Plan: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what a deletion would do, with counts, without doing it."
    )

    @Argument(help: "A user (- to read the id).")
    var user: UserArgument?
    @Option(name: .long, help: "A request instead of a user: its plan and its changes.")
    var request: RequestArgument?
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard (request == nil) != (user == nil) else {
            throw ValidationError("name either a user or a --request")
        }
    }

    func run() async throws {
        if let request {
            let plan = try await global.withClient { try await $0.plan(of: request.id) }
            try global.print(plan, PlanReport.full(plan))
        } else if let user {
            let plan = try await global.withClient { try await $0.makePlan(for: user.user) }
            try global.print(plan, PlanReport.full(plan))
        }
    }
}
