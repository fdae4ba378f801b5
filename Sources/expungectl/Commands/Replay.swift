import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct Replay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Repeat erasures in stores that were restored from a backup.",
        discussion: """
            Waits for the end, across restarts of the service. --since is the time of the restored \
            backup, or earlier; the service repeats erasures since then. A file for --since-file \
            has a line per backup: its time, the store if only one was restored, and the time \
            for --restored-at.
            """,
        subcommands: [Run.self, Status.self],
        defaultSubcommand: Run.self
    )

    struct Run: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Erase again, and wait for the end."
        )

        @Option(help: "The time of the backup, such as 2026-11-21T08:00:00Z.")
        var since: String?
        @Option(help: "A file with such times and stores.", completion: .file())
        var sinceFile: String?
        @Option(help: "Only this store.") var store: StoreName?
        @Flag(help: "Only count; with --copy, erase in that copy.") var drill = false
        @Option(
            help: "With --drill and --store: a copy of the store, as a path, database or bucket.",
            completion: .file()
        )
        var copy: String?
        @Option(help: "With --store: the end of the restoration; see expungectl(1).")
        var restoredAt: String?
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            guard (since == nil) != (sinceFile == nil) else {
                throw ValidationError("one of --since and --since-file is needed")
            }
            guard sinceFile == nil || store == nil && restoredAt == nil && copy == nil else {
                throw ValidationError("a file for --since-file names its stores itself")
            }
            guard copy == nil || drill && store != nil else {
                throw ValidationError("--copy goes with --drill and --store")
            }
        }

        private func restoration() throws -> WallTime? {
            guard let restoredAt else { return nil }
            guard store != nil, let time = WallTime(rfc3339: restoredAt) else {
                throw ValidationError("--restored-at takes a time and goes with --store")
            }
            return time
        }

        func run() async throws {
            var isWhole = true
            for var order in try orders() {
                order.isDrill = drill
                let replay = try await replay(order)
                try global.print(replay, ReplayReport.text(replay))
                isWhole = isWhole && replay.state.known == .finished
            }
            guard isWhole else { throw CommandStatus.failure }
        }

        private func orders() throws -> [ReplayTerms] {
            if let sinceFile {
                return try ReplayFile(InputFile.bytes(sinceFile, countMax: 4096)).orders
            }
            guard let time = since.flatMap({ WallTime(rfc3339: $0) }) else {
                throw ValidationError("--since must be such as 2026-11-21T08:00:00Z")
            }
            var order = ReplayTerms(since: time, store: store)
            order.restoredAt = try restoration()
            order.copy = copy
            return [order]
        }

        private func replay(_ order: ReplayTerms) async throws -> WireReplay {
            var order = order
            order.id = SubmitOptions.freshKey()
            let progress = Progress(global)
            defer { progress.end() }
            return try await global.withClient(
                reconnectTimeout: SubmitOptions.waitReconnectTimeout
            ) { client in
                try await client.replayToEnd(
                    order,
                    onRestart: {
                        progress.end()
                        Console.writeError(
                            "the daemon restarted in the middle of the replay, which is begun"
                                + " again; what was erased until now is not counted again"
                        )
                    },
                    onProgress: { progress.say(ReplayReport.progress($0)) }
                )
            }
        }
    }

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the current or last replay."
        )

        @OptionGroup var global: GlobalOptions

        func run() async throws {
            try await global.show(.replay, ReplayReport.text)
        }
    }
}

enum ReplayReport {
    static func progress(_ replay: WireReplay) -> String {
        let stores = replay.stores.map { "\($0.name): \($0.found) found, \($0.erased) erased" }
        return (["\(replay.tombstones) tombstones"] + stores).joined(separator: "; ")
    }

    static func text(_ replay: WireReplay) -> String {
        var facts = Table("state", replay.state.description + (replay.isDrill ? ", a drill" : ""))
        if let since = replay.since { facts.add("since", since.rfc3339) }
        facts.add("tombstones", "\(replay.tombstones)")
        facts.add("reopened", "\(replay.reopened)")
        guard !replay.stores.isEmpty else { return facts.text }
        var stores = Table("STORE", "FOUND", "ERASED", "ROWS", "LEFT", "CAUSE")
        for store in replay.stores {
            stores.add([
                "\(store.name)", "\(store.found)", "\(store.erased)", "\(store.rows)",
                "\(store.newer)",
                [store.error, store.detail].compactMap(\.self).joined(separator: ": "),
            ])
        }
        return facts.text + "\n" + stores.text
    }
}

/// What was restored, a line each: `SINCE [STORE [RESTORED-AT]]`.
///
/// Without a store all of them are meant. Empty lines and those that begin with `#` say nothing.
struct ReplayFile {
    /// In the order of the file; at least one.
    let orders: [ReplayTerms]

    /// Throws `ValidationError` that names the line and what is expected there.
    init(_ bytes: [UInt8]) throws {
        var orders: [ReplayTerms] = []
        let lines = String(decoding: bytes, as: UTF8.self)
            .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            guard let order = Self.order(words) else {
                throw ValidationError(
                    "line \(index + 1) of the file must be a time such as 2026-11-21T08:00:00Z,"
                        + " then, if not all is meant, a store, then, if that one dates what it"
                        + " has by the restoration, the time of its end"
                )
            }
            orders.append(order)
        }
        guard !orders.isEmpty else {
            throw ValidationError("the file has no line with a time such as 2026-11-21T08:00:00Z")
        }
        self.orders = orders
    }

    private static func order(_ words: [String]) -> ReplayTerms? {
        guard words.count <= 3, let since = WallTime(rfc3339: words[0]) else { return nil }
        let store = words.count > 1 ? StoreName(argument: words[1]) : nil
        guard words.count == 1 || store != nil else { return nil }
        var order = ReplayTerms(since: since, store: store)
        if words.count > 2 {
            guard let time = WallTime(rfc3339: words[2]) else { return nil }
            order.restoredAt = time
        }
        return order
    }
}
