import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct Reload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Read the configuration again; a bad one changes nothing."
    )

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let answer = try await global.withClient { try await $0.reload() }
        var lines = ["reloaded at \(answer.reloadedAt.rfc3339)"]
        lines += answer.changed.map { "changed: \(Table.harmless($0))" }
        lines += answer.needRestart.map { "needs a restart: \(Table.harmless($0))" }
        try global.print(answer, lines.joined(separator: "\n"))
    }
}
