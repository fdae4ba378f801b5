import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct Hold: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stop a request, everything of a user, or the purge of a target, until released."
    )

    @Argument(help: RequestArgument.help)
    var id: RequestArgument?
    @Option(name: .long, help: "A user (- to read the id) instead of a request: a legal hold.")
    var user: UserArgument?
    @Option(name: .long, help: "A target: nothing is purged from it; the rest continues.")
    var target: NameArgument?
    @Option(name: .long, help: "With --target: only rows of this table that match every --where.")
    var table: String?
    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            "Rows with this value; for one column, any of its values.",
            valueName: "column=value"
        )
    )
    var conditions: [String] = []
    @Option(name: .long, help: "With --target: the name of the hold (default: TARGET[.TABLE]).")
    var name: NameArgument?
    @Option(name: .long, help: "The reason; no personal data.")
    var reason: String?
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard [id != nil, user != nil, target != nil].count(where: { $0 }) == 1 else {
            throw ValidationError("name either a request, a --user or a --target")
        }
        guard target != nil || table == nil && conditions.isEmpty && name == nil else {
            throw ValidationError("--table, --where and --name go with --target")
        }
        guard (table == nil) == conditions.isEmpty else {
            throw ValidationError("--table and --where go together")
        }
        if let table, HoldInput.filter(of: table, conditions) == nil {
            throw ValidationError("--where takes COLUMN=VALUE, at most 32 of them")
        }
        if target != nil { _ = try holdName() }
    }

    func run() async throws {
        if let id {
            let request = try await global.withClient { client in
                try await client.act(.hold(reason: reason), on: id.id)
            }
            try global.print(request, RequestReport.list([request]))
        } else if let user {
            let hold = try await global.withClient { client in
                try await client.holdUser(user.user, reason: reason)
            }
            try global.print(hold, "held, \(hold.requestIDs.count) open requests stopped")
        } else if let target {
            let name = try holdName()
            let input = HoldInput(
                target: TargetName(target.name),
                rows: table.flatMap { HoldInput.filter(of: $0, conditions) },
                reason: reason
            )
            let hold = try await global.withClient { try await $0.placeHold(name, input) }
            try global.print(hold, HoldReport.list([hold]))
        }
    }

    private func holdName() throws -> String {
        let made = [target?.name, table].compactMap(\.self).joined(separator: ".")
        guard let name = name?.name ?? PathText.componentName(made) else {
            throw ValidationError("'\(Table.harmless(made))' is no name; give one with --name")
        }
        return name
    }
}
