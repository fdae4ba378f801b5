import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct Hold: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stop a request, everything of a user, or the purge of a store, until released."
    )

    @Argument(help: RequestReference.help, completion: LiveValues.hold) var id: RequestReference?
    @Option(help: "A user (- to read the id) instead of a request: a legal hold.")
    var user: UserID?
    @Option(help: "A store: nothing is purged from it; the rest continues.")
    var store: StoreName?
    @Option(help: "With --store: only rows of this table that match every --where.")
    var table: String?
    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            "Rows with this value; for one column, any of its values.",
            valueName: "column=value"
        )
    )
    var conditions: [String] = []
    @Option(help: "With --store: the name of the hold (default: STORE[.TABLE]).")
    var name: NameArgument?
    @Option(help: "The reason; no personal data.") var reason: String?
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard [id != nil, user != nil, store != nil].count(where: { $0 }) == 1 else {
            throw ValidationError("name either a request, a --user or a --store")
        }
        guard store != nil || table == nil && conditions.isEmpty && name == nil else {
            throw ValidationError("--table, --where and --name go with --store")
        }
        guard (table == nil) == conditions.isEmpty else {
            throw ValidationError("--table and --where go together")
        }
        if let table, HoldInput.filter(of: table, conditions) == nil {
            throw ValidationError("--where takes COLUMN=VALUE, at most 32 of them")
        }
        if store != nil { _ = try holdName() }
    }

    func run() async throws {
        if let id {
            try await global.act(.hold(reason: reason), on: id)
        } else if let user {
            try await global.show(.holdUser(user, reason: reason)) {
                "held as \($0.name), \($0.requestIDs.count) open requests stopped"
            }
        } else if let store {
            let rows = table.flatMap { HoldInput.filter(of: $0, conditions) }
            let input = HoldInput(store: store, rows: rows, reason: reason)
            try await global.show(.placeHold(try holdName(), input)) { Holds.table([$0]) }
        }
    }

    private func holdName() throws -> String {
        let made = [store?.rawValue, table].compactMap(\.self).joined(separator: ".")
        let name = self.name?.name ?? made
        guard ComponentName.isValid(name) else {
            throw ValidationError("'\(Table.harmless(made))' is no name; give one with --name")
        }
        return name
    }
}

struct Release: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lift the hold on a request, a user or a store."
    )

    @Argument(help: RequestReference.help, completion: LiveValues.release) var id: RequestReference?
    @Option(help: "A user (- to read the id) instead of a request.") var user: UserID?
    @Option(help: "A hold on a store or user, by its name.", completion: LiveValues.holds)
    var hold: NameArgument?
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard [id != nil, user != nil, hold != nil].count(where: { $0 }) == 1 else {
            throw ValidationError("name either a request, a --user or a --hold")
        }
    }

    func run() async throws {
        if let id {
            try await global.act(.release, on: id)
        } else if let user {
            try await global.show(.releaseUser(user)) { $0.isHeld ? "still held" : "released" }
        } else if let hold {
            try await global.show(.liftHold(hold.name)) { _ in "released" }
        }
    }
}

struct Holds: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the holds on stores and users, oldest first."
    )

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.show(.holds) { list in
            Self.table(list.items)
                + (list.items.isEmpty ? "" : "\nrelease with: expungectl release --hold NAME")
        }
    }

    static func table(_ items: [WireHold]) -> String {
        var table = Table("NAME", "STORE", "ROWS", "SINCE", "BY UID", "REASON")
        for item in items {
            let rows = item.table.map { "\($0) where " + item.conditions.joined(separator: ", ") }
            table.add([
                item.name, item.store, rows ?? (item.store == nil ? "all of one user" : "all"),
                item.since.rfc3339, item.uid.map { "\($0)" }, item.reason,
            ])
        }
        return table.text
    }
}
