package import Lifecycle

/// What the operator configures for a provider of their own.
package struct CommandSettings: Sendable {
    package let name: ProviderName
    package let clientIDs: [String]
    /// Absolute path of the program.
    package let program: String
    package let arguments: [String]
    /// The whole life of one call of the program.
    package var timeout = Duration.seconds(30)
    /// Whether the program can tell whether a refresh token is live.
    package var canCheck = false
    /// Whether revoking one token ends the whole grant there.
    package var revokesWholeGrant = false
    package var userActionURL = ""
    package var userActionText = ""

    package init(
        name: ProviderName,
        clientIDs: [String],
        program: String,
        arguments: [String] = []
    ) {
        self.name = name
        self.clientIDs = clientIDs
        self.program = program
        self.arguments = arguments
    }
}
