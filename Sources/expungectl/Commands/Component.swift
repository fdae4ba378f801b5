import ArgumentParser
import Control
import ControlClient

/// What the commands of providers and of targets have in common.
protocol Component: Sendable {
    /// One of them, in words.
    static var noun: String { get }

    static func list(_ client: ControlClient) async throws -> WireList<WireHealth>

    static func control(
        _ action: ComponentAction,
        _ name: String,
        _ client: ControlClient
    ) async throws -> WireHealth
}

extension Component {
    static var componentCommands: [any ParsableCommand.Type] {
        [
            ComponentList<Self>.self, ComponentVerb<Self, PauseVerb>.self,
            ComponentVerb<Self, ResumeVerb>.self, ComponentVerb<Self, CheckVerb>.self,
        ]
    }
}

/// `list`: shows all of them.
struct ComponentList<Kind: Component>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(commandName: "list", abstract: "Show every \(Kind.noun).")
    }

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let page = try await global.withClient { try await Kind.list($0) }
        try global.print(page, HealthReport.checked(page.items))
    }
}

/// Something to do with one of them.
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

/// `pause`, `resume` or `check`: does one thing with one of them.
struct ComponentVerb<Kind: Component, Verb: ComponentVerbKind>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(commandName: Verb.action.rawValue, abstract: Verb.abstract)
    }

    @Argument(help: "The \(Kind.noun).")
    var name: NameArgument
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let health = try await global.withClient { client in
            try await Kind.control(Verb.action, name.name, client)
        }
        try global.print(health, HealthReport.one(health))
        if Verb.action != .pause, !health.findings.isEmpty { throw EndCode.failure }
    }
}
