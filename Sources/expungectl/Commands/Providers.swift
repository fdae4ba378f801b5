import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct Providers: AsyncParsableCommand, Component {
    static let configuration = CommandConfiguration(
        abstract: "Show the providers, or pause, resume or check one.",
        subcommands: componentCommands,
        defaultSubcommand: ComponentList<Self>.self
    )
    static let noun = "provider"

    static func list(_ client: ControlClient) async throws -> WireList<WireHealth> {
        try await client.providers()
    }

    static func control(
        _ action: ComponentAction,
        _ name: String,
        _ client: ControlClient
    ) async throws -> WireHealth {
        try await client.control(action, provider: ProviderName(name))
    }
}
