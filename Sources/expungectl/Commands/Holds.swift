import ArgumentParser
import Control
import ControlClient

struct Holds: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the holds on targets, oldest first."
    )

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let list = try await global.withClient { try await $0.holds() }
        try global.print(list, HoldReport.list(list.items))
    }
}
