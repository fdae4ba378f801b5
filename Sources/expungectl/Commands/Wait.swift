import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct Wait: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Wait for the end of requests, and exit as --wait does.",
        discussion: """
            The exit status is 0 if all completed, else that of the first in the list that did \
            not. A parked request counts as ended. A request that has not ended in time continues.
            """
    )

    @Argument(help: RequestReference.help) var ids: [RequestReference]
    @OptionGroup var limit: WaitLimit
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        var ids: [RequestID] = []
        for reference in self.ids { ids.append(try await global.resolve(reference)) }
        let requests = try await global.withClient(
            reconnectTimeout: SubmitOptions.waitReconnectTimeout
        ) { try await limit.wait(for: ids, $0, json: global.json) }
        let text = RequestReport.list(requests)
        if requests.count == 1, let only = requests.first {
            try global.print(only, text)
        } else {
            try global.print(WireList(requests), text)
        }
        if let code = requests.lazy.compactMap(SubmitOptions.endCode).first { throw code }
    }
}
