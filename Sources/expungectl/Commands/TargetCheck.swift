import ArgumentParser
import Control
import ControlClient
import Lifecycle

/// `targets check`: compares the configuration with the live stores, for people and for CI.
struct TargetCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check it now, and search for unmapped data.",
        discussion: """
            The exit status is 1 if a target does not work as configured, and 14 if a table, \
            column or folder looks like user data and has no rule. Advice, such as a column \
            without an index, leaves the exit status alone.
            """
    )

    @Argument(help: "The target; without it, all.")
    var name: NameArgument?
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let checked = try await global.withClient { client in
            let names =
                if let name {
                    [name.name]
                } else {
                    try await client.targets().items.map(\.name)
                }
            var checked: [WireHealth] = []
            for name in names {
                checked.append(try await client.control(.check, target: TargetName(name)))
            }
            return checked
        }
        if name != nil, let only = checked.first {
            try global.print(only, HealthReport.one(only))
        } else {
            try global.print(WireList(checked), HealthReport.checked(checked))
        }
        if checked.contains(where: { !$0.findings.isEmpty }) { throw EndCode.failure }
        if checked.contains(where: { $0.uncovered?.isEmpty == false }) { throw EndCode.uncovered }
    }
}
