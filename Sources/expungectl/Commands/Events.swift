import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct Events: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print live changes until the service stops or Ctrl-C."
    )

    @Argument(help: "One request; without it, everything.")
    var id: RequestArgument?
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withClient { client in
            try await client.follow(id?.id) { event in
                try global.printLine(event, Self.line(event))
                return true
            }
        }
    }

    private static func line(_ event: WireEvent) -> String {
        let parts = [
            event.at.rfc3339, event.kind.description, event.requestID?.description, event.step,
            event.provider, event.target, event.state, event.detail,
            event.verdict?.description, event.attempt.map { "attempt \($0)" },
        ]
        return Table.harmless(parts.compactMap { $0 }.joined(separator: "  "))
    }
}
