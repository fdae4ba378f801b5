import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct Targets: AsyncParsableCommand, Component {
    static let configuration = CommandConfiguration(
        abstract: "Show the targets, or pause, resume or check one.",
        subcommands: [
            ComponentList<Self>.self, ComponentVerb<Self, PauseVerb>.self,
            ComponentVerb<Self, ResumeVerb>.self, TargetCheck.self,
        ],
        defaultSubcommand: ComponentList<Self>.self
    )
    static let noun = "target"

    static func list(_ client: ControlClient) async throws -> WireList<WireHealth> {
        try await client.targets()
    }

    static func control(
        _ action: ComponentAction,
        _ name: String,
        _ client: ControlClient
    ) async throws -> WireHealth {
        try await client.control(action, target: TargetName(name))
    }
}
