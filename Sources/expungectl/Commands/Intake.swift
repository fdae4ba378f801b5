import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct Intake: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stop or start accepting requests.",
        subcommands: [Pause.self, Resume.self]
    )

    struct Pause: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Stop accepting requests.")

        @OptionGroup var global: GlobalOptions

        func run() async throws { try await Intake.set(isPaused: true, global) }
    }

    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Accept requests again.")

        @OptionGroup var global: GlobalOptions

        func run() async throws { try await Intake.set(isPaused: false, global) }
    }

    private static func set(isPaused: Bool, _ global: GlobalOptions) async throws {
        let status = try await global.withClient { try await $0.setIntake(isPaused: isPaused) }
        try global.print(status, status.isIntakePaused ? "intake paused" : "intake open")
    }
}
