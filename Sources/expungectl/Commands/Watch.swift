import ArgumentParser
import Control
import ControlClient
import FoundationEssentials
import Glibc
import Lifecycle

struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the service, its requests, providers and targets live, until Ctrl-C.",
        discussion: "Colors only on a terminal; the variable NO_COLOR turns them off."
    )

    @Flag(help: "Print the state once.") var once = false
    @Option(help: "Seconds between two looks, 1 to 3600.") var interval = 2
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard (1...3600).contains(interval) else {
            throw ValidationError("--interval takes 1 to 3600")
        }
        guard !global.json else {
            throw ValidationError("watch prints text; use: expungectl status --json, or events")
        }
    }

    func run() async throws {
        guard !once else {
            let look = try await global.withClient { try await Self.look($0) }
            return Console.write(look.lines(since: nil).joined(separator: "\n"))
        }
        try await global.withClient { client in
            var looks: [WatchFrame] = []
            while true {
                var lines: [String]
                do {
                    let look = try await Self.look(client)
                    lines = look.lines(since: looks.first)
                    looks.append(look)
                    looks.removeAll { look.at.since($0.at) > WatchFrame.rateSpan }
                } catch let error as ControlClientError {
                    lines = [Table.harmless("\(error)"), "tried again every \(interval) s"]
                }
                guard Self.put(lines) else { return }
                try await client.pause(.seconds(interval))
            }
        }
    }

    private static func look(_ client: ControlClient) async throws -> WatchFrame {
        WatchFrame(
            at: LocalTime.now,
            status: try await client.call(.status),
            providers: try await client.call(.providers).items,
            targets: try await client.call(.targets).items,
            requests: try await client.call(.list(WireRequestFilter(limit: 8))).items
        )
    }

    /// Replaces the screen; in a pipe, adds the lines and an empty one.
    private static func put(_ lines: [String]) -> Bool {
        guard Console.isTerminal else {
            return Console.put(lines.joined(separator: "\n") + "\n\n", to: STDOUT_FILENO)
        }
        let size = Console.size
        let environment = ProcessInfo.processInfo.environment
        let isColored = environment["NO_COLOR"] == nil && environment["TERM"] != "dumb"
        let shown = lines.prefix(max(1, size.rows - 1)).map { line in
            let text = Table.clip(line, to: min(80, size.columns))
            return isColored ? WatchFrame.colored(text) : text
        }
        return Console.put(
            "\u{1b}[H\u{1b}[2J" + shown.joined(separator: "\n") + "\n",
            to: STDOUT_FILENO
        )
    }
}
