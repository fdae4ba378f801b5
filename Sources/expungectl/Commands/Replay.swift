import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct Replay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Erase again what a restored backup of a store brought back.",
        discussion: """
            Waits for the end, across restarts of the daemon. --since is the time of the backup \
            that was restored, or earlier; erasures from then on are repeated. A file for \
            --since-file has a line for each backup: the time, then the target if only one was \
            restored, then, as for --restored-at, when that was over.
            """,
        subcommands: [Run.self, Status.self],
        defaultSubcommand: Run.self
    )

    struct Run: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Erase again, and wait until it is done."
        )

        @Option(help: "When the backup was made, such as 2026-11-21T08:00:00Z.")
        var since: String?
        @Option(help: "A file with that time, and what was restored.", completion: .file())
        var sinceFile: String?
        @Option(help: "This target alone.")
        var target: NameArgument?
        @Flag(help: "Only tell what would be erased; with --copy, erase in that copy.")
        var drill = false
        @Option(
            help: "With --drill and --target: a copy of the store, as a path, database or bucket.",
            completion: .file()
        )
        var copy: String?
        @Option(
            help: "With --target: when it was restored, if it dates by that, or not at all."
        )
        var restoredAt: String?
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            guard (since == nil) != (sinceFile == nil) else {
                throw ValidationError("one of --since and --since-file is needed")
            }
            guard sinceFile == nil || target == nil && restoredAt == nil && copy == nil else {
                throw ValidationError("a file for --since-file names its targets itself")
            }
            guard copy == nil || drill && target != nil else {
                throw ValidationError("--copy goes with --drill and --target")
            }
        }

        /// When the restoration was over, if that was said.
        private func restoration() throws -> WallTime? {
            guard let restoredAt else { return nil }
            guard target != nil, let time = WallTime(rfc3339: restoredAt) else {
                throw ValidationError("--restored-at takes a time and goes with --target")
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
            guard isWhole else { throw EndCode.failure }
        }

        private func orders() throws -> [ReplayInput] {
            if let sinceFile {
                return try ReplayFile(InputFile.bytes(sinceFile, countMax: 4096)).orders
            }
            guard let time = since.flatMap({ WallTime(rfc3339: $0) }) else {
                throw ValidationError("--since must be such as 2026-11-21T08:00:00Z")
            }
            var order = ReplayInput(since: time, target: target.map { TargetName($0.name) })
            order.restoredAt = try restoration()
            order.copy = copy
            return [order]
        }

        private func replay(_ order: ReplayInput) async throws -> WireReplay {
            var order = order
            order.id = SubmitOptions.freshKey()
            return try await global.withClient(
                reconnectTimeout: SubmitOptions.waitReconnectTimeout
            ) { client in
                try await client.replayToEnd(order) {
                    Console.writeError(
                        "the daemon restarted in the middle of the replay, which is begun again;"
                            + " what was erased until now is not counted again"
                    )
                }
            }
        }
    }

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the replay that runs, or ran last."
        )

        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let replay = try await global.withClient { try await $0.replay() }
            try global.print(replay, ReplayReport.text(replay))
        }
    }
}
