import Engine
import Providers
import Settings

extension ProviderFactory {
    /// A program of the operator's own.
    func makeCommand(
        _ provider: ProviderConfiguration,
        _ command: CommandProviderConfiguration
    ) throws -> CommandProvider {
        try CommandProvider(settings(of: provider, command), clock: AnchoredClock())
    }

    /// What the operator configured.
    func settings(
        of provider: ProviderConfiguration,
        _ command: CommandProviderConfiguration
    ) -> CommandSettings {
        var settings = CommandSettings(
            name: provider.name,
            clientIDs: provider.clientIDs,
            program: command.program,
            arguments: command.arguments
        )
        settings.timeout = provider.connection.timeoutTotal
        settings.canCheck = command.canCheck
        settings.revokesWholeGrant = command.revokesWholeGrant
        settings.userActionURL = command.userActionURL
        settings.userActionText = command.userActionText
        return settings
    }
}
