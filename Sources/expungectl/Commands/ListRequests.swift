import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct ListRequests: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List requests, newest first."
    )

    @Option(name: .long, help: "Only this state.")
    var state: StateArgument?
    @Option(name: .long, help: "Only requests with an identity at this provider.")
    var provider: NameArgument?
    @Option(name: .long, help: "Only this user.")
    var user: UserArgument?
    @Option(name: .long, help: "The number of requests, 1 to 1000.")
    var limit = ControlLimits.listLimitDefault
    @Option(name: .long, help: "The cursor of the previous page.")
    var cursor: String?
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard (1...ControlLimits.listLimitMax).contains(limit) else {
            throw ValidationError("--limit must be 1 to \(ControlLimits.listLimitMax)")
        }
    }

    func run() async throws {
        var filter = RequestFilter(limit: limit)
        filter.state = state?.state
        filter.provider = provider.map { ProviderName($0.name) }
        filter.user = user?.user
        filter.cursor = cursor
        let page = try await global.withClient { try await $0.list(filter) }
        try global.print(page, RequestReport.list(page.items))
        if let next = page.nextCursor, !global.json {
            Console.writeError("more: expungectl list --cursor \(Table.harmless(next))")
        }
    }
}
