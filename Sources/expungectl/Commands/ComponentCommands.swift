import ArgumentParser
import Control
import ControlClient
import Lifecycle

/// What the commands of providers and of stores have in common.
protocol Component: Sendable {
    static var noun: String { get }
    static var list: ControlCall<WireList<WireHealth>> { get }
    static var completion: CompletionKind { get }
    static func control(_ action: ComponentAction, _ name: String) -> ControlCall<WireHealth>
}

struct Providers: AsyncParsableCommand, Component {
    static let configuration = CommandConfiguration(
        abstract: "Show the providers, or pause, resume or check one.",
        subcommands: [
            ComponentList<Self>.self, ComponentVerb<Self, PauseVerb>.self,
            ComponentVerb<Self, ResumeVerb>.self, ComponentVerb<Self, CheckVerb>.self,
        ],
        defaultSubcommand: ComponentList<Self>.self
    )
    static let noun = "provider"
    static let list = ControlCall.providers
    static let completion = LiveValues.providers

    static func control(_ action: ComponentAction, _ name: String) -> ControlCall<WireHealth> {
        .control(action, provider: ProviderName(name))
    }
}

struct Stores: AsyncParsableCommand, Component {
    static let configuration = CommandConfiguration(
        abstract: "Show the stores, or pause, resume or check one, or suggest its rules.",
        subcommands: [
            ComponentList<Self>.self, ComponentVerb<Self, PauseVerb>.self,
            ComponentVerb<Self, ResumeVerb>.self, StoreCheck.self, StoreSuggest.self,
        ],
        defaultSubcommand: ComponentList<Self>.self
    )
    static let noun = "store"
    static let list = ControlCall.stores
    static let completion = LiveValues.stores

    static func control(_ action: ComponentAction, _ name: String) -> ControlCall<WireHealth> {
        .control(action, store: StoreName(name))
    }
}

struct ComponentList<Kind: Component>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(commandName: "list", abstract: "Show every \(Kind.noun).")
    }

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.show(Kind.list) { HealthReport.checked($0.items) }
    }
}

protocol ComponentVerbKind: Sendable {
    static var action: ComponentAction { get }
    static var abstract: String { get }
}

enum PauseVerb: ComponentVerbKind {
    static let action = ComponentAction.pause
    static let abstract = "Start no new work there."
}

enum ResumeVerb: ComponentVerbKind {
    static let action = ComponentAction.resume
    static let abstract = "Start work there again."
}

enum CheckVerb: ComponentVerbKind {
    static let action = ComponentAction.check
    static let abstract = "Ask it now whether it works."
}

struct ComponentVerb<Kind: Component, Verb: ComponentVerbKind>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(commandName: Verb.action.rawValue, abstract: Verb.abstract)
    }

    @Argument(help: "The \(Kind.noun).", completion: Kind.completion) var name: NameArgument
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let health = try await global.show(Kind.control(Verb.action, name.name)) {
            HealthReport.checked([$0])
        }
        if Verb.action != .pause, !health.findings.isEmpty { throw CommandStatus.failure }
    }
}

/// `stores check`: compares the configuration with the live stores, for people and for CI.
struct StoreCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check it now, and search for unmapped data.",
        discussion: """
            The exit status is 1 if a store does not work as configured or has requests that \
            do not get on; else 14 if a table, column or folder looks like user data and has no \
            rule, or if a foreign key without a rule stops deletions; else 77 if a table could \
            not be read. Advice, such as a column without an index, leaves the exit status alone.
            """
    )

    @Argument(help: "The store; without it, all.") var name: StoreName?
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let checked = try await global.withClient { client in
            let names =
                if let name {
                    [name]
                } else {
                    try await client.call(.stores).items.map { StoreName($0.name) }
                }
            let progress = Progress(global)
            var checked: [WireHealth] = []
            for name in names {
                let found = try await progress.during("looking through store \(name)") {
                    try await client.call(.control(.check, store: name))
                }
                checked.append(found)
            }
            return checked
        }
        if name != nil, let only = checked.first {
            try global.print(only, HealthReport.checked(checked))
        } else {
            try global.print(WireList(checked), HealthReport.checked(checked))
        }
        if checked.contains(where: { !$0.findings.isEmpty }) { throw CommandStatus.failure }
        if checked.contains(where: { $0.uncovered?.isEmpty == false }) {
            throw CommandStatus.uncovered
        }
        if checked.contains(where: { $0.unexamined?.isEmpty == false }) {
            throw CommandStatus.unexamined
        }
    }
}

struct StoreSuggest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "suggest",
        abstract: "Write the rules of a store from its schema and sampled values.",
        discussion: """
            It prints a [[store]] section with a rule for each table that holds data of users. \
            Comments say what was found and what to decide. Nothing is changed. Only a database \
            with tables has a schema.
            """
    )

    @Argument(help: "The store.", completion: LiveValues.stores) var name: StoreName
    @Option(help: "The table of users and its column with the user id, such as users.id.")
    var userTable: String?
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let input = SuggestInput(userTable: userTable)
        let suggestion = try await Progress(global).during("reading the schema and some rows") {
            try await global.call(.suggest(input, store: name))
        }
        var text = suggestion.configuration
        if text.hasSuffix("\n") { text.removeLast() }
        // A file gets each name as it is.
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        try global.print(
            suggestion,
            Console.isTerminal
                ? lines.map { Table.harmless(String($0)) }.joined(separator: "\n") : text
        )
    }
}
