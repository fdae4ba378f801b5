package import Lifecycle

/// The values of a directory's `kind`.
package enum DirectoryFamily: String, Sendable, CaseIterable {
    case firebase
}

/// The `[[directory]]` section.
package struct DirectoryConfiguration: Hashable, Sendable {
    package let name: ProviderName
    package let kind: DirectoryFamily
    /// The directory's word for a provider, and the provider's configured name.
    package let providers: [String: ProviderName]
    /// Calls at once.
    package let concurrency: Int
    package let project: String
    package let tenant: String?
    package let access: GoogleAccess
}
