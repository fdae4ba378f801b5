package import Lifecycle

/// One way in which a user signs in, as a directory tells it.
package struct DirectoryLink: Sendable {
    package let provider: ProviderName
    /// A password, a phone number, an anonymous account: there never was a token.
    package let isLocal: Bool
    /// The provider's own name for the user, where the directory tells it: personal.
    package let subject: Secret?

    package init(provider: ProviderName, isLocal: Bool, subject: Secret? = nil) {
        (self.provider, self.isLocal, self.subject) = (provider, isLocal, subject)
    }
}

/// What a directory knows of a user.
package enum DirectoryAnswer: Sendable {
    /// Empty for a user whom the directory does not know: erased already, or never there.
    case links([DirectoryLink])
    case failure(EffectFailure)

    package var failure: EffectFailure? {
        if case .failure(let known) = self { known } else { nil }
    }
}

/// The system that holds the users' accounts and knows at which providers each is linked.
///
/// It is asked before anything is revoked or deleted. A call never throws and is bounded in time by
/// the adapter itself.
package protocol IdentityDirectory: Sendable {
    var name: ProviderName { get }

    func links(of user: UserID) async -> DirectoryAnswer

    /// Makes one harmless call; `nil` when all is well.
    func diagnose() async -> EffectFailure?

    func shutdown() async
}
