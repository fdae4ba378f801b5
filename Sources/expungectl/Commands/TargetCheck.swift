import ArgumentParser
import Control
import ControlClient
import Lifecycle

/// `targets check`: compares the configuration with the live stores, for people and for CI.
struct TargetCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Ask it now whether it works, and look for user data without a rule.",
        discussion: """
            Ends with 1 when a target cannot be used as configured, and with 14 when a table, \
            column or folder looks like user data and is neither purged nor kept with a reason. \
            What stops nothing, such as a column without an index, is told as advice.
            """
    )

    @Argument(help: "The target; all of them when none is named.")
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
