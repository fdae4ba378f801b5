import ArgumentParser
import Control
import ControlClient
import FoundationEssentials
import Glibc
import Lifecycle

struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the service, its requests, providers and stores live, until Ctrl-C.",
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
            stores: try await client.call(.stores).items,
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

/// What `watch` saw at one time, as lines of at most 80 columns.
struct WatchFrame: Sendable {
    /// Rates are those of this time.
    static let rateSpan = Duration.seconds(60)
    private static let columnCount = 80

    let at: WallTime
    let status: WireStatus
    let providers: [WireHealth]
    let stores: [WireHealth]
    let requests: [WireRequest]

    func lines(since earlier: WatchFrame?) -> [String] {
        let up = LocalTime.span(at.since(status.startedAt))
        let title = "expunged \(status.version)  \(status.state), up \(up)  \(LocalTime.full(at))"
        var lines = [title]
        let alarms = status.alarms
        lines.append(fact("alarms", alarms.isEmpty ? "none" : alarms.joined(separator: ", ")))
        let open = status.requests.filter { !Self.ended.contains($0.key) }
        lines.append(fact("open", HealthReport.counts(open)))
        lines.append(fact("parked", HealthReport.counts(status.parked)))
        lines.append(fact("ended", ended(earlier)))
        lines.append(fact("oldest", oldest))
        lines.append(fact("guard", HealthReport.guardLine(status.guardState)))
        if status.isIntakePaused { lines.append(fact("intake", "paused")) }
        if status.isVaultSealed { lines.append(fact("vault", "sealed")) }
        lines = lines.map { Table.clip(Table.harmless($0), to: Self.columnCount) }
        for (noun, items) in [("PROVIDER", providers), ("STORE", stores)] where !items.isEmpty {
            lines += ["", health(noun, items)]
        }
        if !requests.isEmpty { lines += ["", RequestReport.list(requests, within: 80)] }
        return lines.flatMap { $0.split(separator: "\n", omittingEmptySubsequences: false) }
            .map(String.init)
    }

    private static let ended = ["completed", "cancelled", "rejected"]

    private func fact(_ name: String, _ text: String) -> String {
        name + String(repeating: " ", count: 8 - name.count) + text
    }

    /// With the rate of completions, once two frames tell one.
    private func ended(_ earlier: WatchFrame?) -> String {
        let text = HealthReport.counts(status.requests.filter { Self.ended.contains($0.key) })
        guard let earlier, at > earlier.at else { return text }
        let (now, before) = (status.requests["completed"], earlier.status.requests["completed"])
        let count = max(0, (now ?? 0) - (before ?? 0))
        let perMinute = count * 60_000 / Int(at.since(earlier.at).milliseconds)
        return text + "; \(perMinute) a minute completed"
    }

    private var oldest: String {
        guard let time = status.oldestOpenAt else { return "none" }
        let age = "\(LocalTime.span(at.since(time))) old"
        guard let id = status.oldestOpenID else { return age }
        return "\(id.description.prefix(RequestID.shortLength)), \(age)"
    }

    private func health(_ noun: String, _ items: [WireHealth]) -> String {
        var table = Table(noun, "STATE", "BUSY", "WAITING", "NEXT TRY", "LAST ERROR")
        for item in items {
            let wait = item.retryAt.map { $0 > at ? LocalTime.distance($0, now: at) : "now" }
            table.add([
                item.name, item.detail.map { "\(item.state) (\($0))" } ?? "\(item.state)",
                "\(item.inFlight)/\(item.concurrency)", "\(item.waiting)", wait, item.lastError,
            ])
        }
        return table.text(within: Self.columnCount, shrinking: [(5, 10), (0, 12), (1, 12)])
    }

    /// Headers bold; what is broken red, what waits yellow.
    static func colored(_ line: String) -> String {
        let isHeader = line.first?.isUppercase == true
        let isBad = line.hasPrefix("alarms") && !line.hasSuffix("none") || line.contains(" broken")
        let isWaiting = ["parked", " paused", " held"].contains { line.contains($0) }
        let code = isHeader ? "1" : isBad ? "31" : isWaiting ? "33" : nil
        return code.map { "\u{1b}[\($0)m\(line)\u{1b}[0m" } ?? line
    }
}
