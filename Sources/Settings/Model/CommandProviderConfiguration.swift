/// What only `kind = "command"` has.
package struct CommandProviderConfiguration: Hashable, Sendable {
    package let program: String
    package let arguments: [String]
    package let canCheck: Bool
    package let revokesWholeGrant: Bool
    package let userActionURL: String
    package let userActionText: String
}
