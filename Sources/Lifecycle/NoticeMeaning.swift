/// What a provider tells about one of its users, whatever the vendor calls it.
package enum NoticeMeaning: String, Sendable, CaseIterable {
    /// The account at the provider is deleted for good, and every grant with it.
    case accountGone = "account_gone"
    /// The user asked the provider to have the application's data erased.
    case deletionAsked = "deletion_asked"
    /// The user or the provider cut the link; the account at the provider lives on.
    case linkCut = "link_cut"
    /// Nothing that anything here depends on.
    case other

    /// Whether the application's account is to end with it, if the policy says so.
    package var endsAccount: Bool { self == .accountGone || self == .deletionAsked }

    /// Whether no grant is left at the provider.
    package var cutsLink: Bool { self == .accountGone || self == .linkCut }
}
