package import Lifecycle

/// What the operator configures for a provider of their own.
package struct CommandSettings: Sendable {
    package let name: ProviderName
    package let clientIDs: [String]
    package let program: String
    package let arguments: [String]
    /// The whole life of one call of the program.
    package var timeout = Duration.seconds(30)
    package var canCheck = false
    package var revokesWholeGrant = false
    package var userActionURL = ""
    package var userActionText = ""
}
