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
        if let code = requests.lazy.compactMap(SubmitOptions.exitStatus).first { throw code }
    }
}

/// How long a command waits for the end of requests.
struct WaitLimit: ParsableArguments {
    private static let secondsMax = 86_400

    @Option(
        name: .customLong("timeout"),
        help: ArgumentHelp(
            "Seconds to wait at most, 1 to \(Self.secondsMax).",
            valueName: "seconds"
        )
    )
    var seconds: Int?

    func validate() throws {
        guard seconds.map({ (1...Self.secondsMax).contains($0) }) ?? true else {
            throw ValidationError("--timeout takes 1 to \(Self.secondsMax)")
        }
    }

    /// Returns the requests as they are when all have ended, or when the time is over.
    func wait(
        for ids: [RequestID],
        _ client: ControlClient,
        json: Bool
    ) async throws -> [WireRequest] {
        let ended = try await withThrowingTaskGroup(of: [WireRequest]?.self) { group in
            group.addTask {
                var requests: [WireRequest] = []
                // One after the other: the end of the last is the end of all.
                for id in ids {
                    let narrate = SubmitOptions.narrate(json: json)
                    requests.append(try await client.waitForEnd(id, onChange: narrate))
                }
                return requests
            }
            if let seconds {
                group.addTask {
                    try await client.pause(.seconds(seconds))
                    return nil
                }
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
        if let ended { return ended }
        let names = ids.map(\.description).joined(separator: " ")
        Console.writeError("not ended in time; to wait on: expungectl wait \(names)")
        var requests: [WireRequest] = []
        for id in ids { requests.append(try await client.call(.show(id))) }
        return requests
    }
}
