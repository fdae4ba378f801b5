import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct Replay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Erase again what a restored backup of a store brought back.",
        discussion: """
            Waits for the end. --since is the time of the backup that was restored, or earlier; \
            erasures from then on are repeated.
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
        @Option(help: "A file whose first line is that time.", completion: .file())
        var sinceFile: String?
        @Option(help: "This target alone.")
        var target: NameArgument?
        @Flag(help: "Only tell what would be erased; with --path, erase in that copy.")
        var drill = false
        @Option(help: "With --drill and --target: a copy of the store.", completion: .file())
        var path: String?
        @Option(help: "With --target: when a store that dates what it has itself was restored.")
        var restoredAt: String?
        @OptionGroup var global: GlobalOptions

        /// Between two looks.
        private static let pause = Duration.milliseconds(250)

        func validate() throws {
            guard (since == nil) != (sinceFile == nil) else {
                throw ValidationError("one of --since and --since-file is needed")
            }
            guard path == nil || drill && target != nil else {
                throw ValidationError("--path goes with --drill and --target")
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
            guard let time = WallTime(rfc3339: try timeText()) else {
                throw ValidationError("the time must be such as 2026-11-21T08:00:00Z")
            }
            var input = ReplayInput(since: time, target: target.map { TargetName($0.name) })
            input.isDrill = drill
            input.restoredAt = try restoration()
            input.path = path
            let order = input
            let replay = try await global.withClient { client in
                var replay = try await client.startReplay(order)
                while replay.state.known == .running {
                    try await ContinuousClock().sleep(for: Self.pause)
                    replay = try await client.replay()
                }
                return replay
            }
            try global.print(replay, ReplayReport.text(replay))
            guard replay.state.known == .finished else { throw EndCode.failure }
        }

        private func timeText() throws -> String {
            if let since { return since }
            let bytes = try InputFile.bytes(sinceFile ?? "-", countMax: 4096)
            let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
            return String(decoding: line, as: UTF8.self)
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
