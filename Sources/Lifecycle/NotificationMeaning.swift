/// What a provider tells about one of its users, whatever the vendor calls it.
package enum NotificationMeaning: String, Sendable, CaseIterable {
    /// The account at the provider is deleted for good, and every grant with it.
    case accountGone = "account_gone"
    /// The user asked the provider to have the application's data erased.
    case deletionAsked = "deletion_asked"
    /// The user or the provider cut the link; the account at the provider lives on.
    case linkCut = "link_cut"
    /// As ``accountGone``, without a time that the provider vouches for.
    case accountGoneUndated = "account_gone_undated"
    /// As ``linkCut``, without a time that the provider vouches for.
    case linkCutUndated = "link_cut_undated"
    case other

    package var endsAccount: Bool {
        switch self {
        case .accountGone, .accountGoneUndated, .deletionAsked: true
        case .linkCut, .linkCutUndated, .other: false
        }
    }

    /// Whether no grant is left at the provider.
    package var cutsLink: Bool {
        switch self {
        case .accountGone, .linkCut: true
        case .accountGoneUndated, .linkCutUndated, .deletionAsked, .other: false
        }
    }

    /// No evidence for a revocation: each token is tried all the same.
    package var isHint: Bool {
        switch self {
        case .accountGoneUndated, .linkCutUndated: true
        case .accountGone, .linkCut, .deletionAsked, .other: false
        }
    }
}
