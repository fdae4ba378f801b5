/// What is done about a provider's notification.
package enum NotificationDecision: Hashable, Sendable {
    /// What is stored of the subject that the notification names.
    package enum Finding: Hashable, Sendable {
        case unknown
        /// The service itself erased the user or cut the link.
        case echo(RequestID)
        /// Several users have it.
        case shared
        /// What is stored is newer than the notification.
        case stale
        case user(User)
    }

    /// The requests of the user whom the notification is about.
    package struct User: Hashable, Sendable {
        /// A `delete_account` that is open.
        package let openDeletion: RequestID?
        /// The first request that is open and knows an identity that changed.
        package let openRequest: RequestID?
        /// Verdicts of requests past revoking that became `proven`.
        package let raised: Int
        /// It names only accounts beside the user's first, such as another person's.
        package let isOtherAccount: Bool

        package init(
            openDeletion: RequestID?,
            openRequest: RequestID?,
            raised: Int,
            isOtherAccount: Bool = false
        ) {
            (self.openDeletion, self.openRequest) = (openDeletion, openRequest)
            (self.raised, self.isOtherAccount) = (raised, isOtherAccount)
        }
    }

    /// What is decided before the state is read.
    package enum Start: Hashable, Sendable {
        case settled(NotificationEffect)
        case read(NotificationPolicy)
    }

    case settled(NotificationEffect, RequestID? = nil)
    /// A `delete_account` of the user is submitted; its answer is the effect.
    case deletion

    /// Without a policy, the provider is not configured.
    package static func start(
        occurredAt: WallTime,
        ageMax: Duration,
        policy: NotificationPolicy?,
        at now: WallTime
    ) -> Start {
        guard now.since(occurredAt) < ageMax else { return .settled(.stale) }
        return policy.map { .read($0) } ?? .settled(.reported)
    }

    /// What is decided by what the state has of the subject.
    ///
    /// With `canSubmit` false, the intake is paused or the vault lacks its key.
    package init(
        _ meaning: NotificationMeaning,
        of finding: Finding,
        policy: NotificationPolicy,
        canSubmit: Bool
    ) {
        switch finding {
        case .unknown: self = .settled(.unknownSubject)
        case .echo(let request): self = .settled(.echo, request)
        case .shared: self = .settled(.sharedIdentity)
        case .stale: self = .settled(.stale)
        case .user(let user) where meaning.endsAccount:
            if let open = user.openDeletion {
                self = .settled(.deletionOpen, open)
            } else if user.isOtherAccount || !policy.mayDelete(meaning) {
                self = .settled(.reported)
            } else {
                self = canSubmit ? .deletion : .settled(.postponed)
            }
        case .user(let user):
            if policy.onLinkCut == .report {
                self = .settled(.reported)
            } else if meaning.isHint {
                self = .settled(.hinted, user.openDeletion)
            } else {
                let effect = user.raised > 0 ? NotificationEffect.echo : .linkUpdated
                self = .settled(effect, user.openRequest ?? user.openDeletion)
            }
        }
    }
}

extension NotificationEffect {
    /// The effect that stands for several: the first in the order of the cases, `noted` for none.
    package static func leading(
        _ effects: [(effect: NotificationEffect, requestID: RequestID?)]
    ) -> (effect: NotificationEffect, requestID: RequestID?) {
        for effect in allCases {
            if let found = effects.first(where: { $0.effect == effect }) { return found }
        }
        return (.noted, nil)
    }
}

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

/// What a provider's notification did; `rawValue` is the `effect` on the wire.
package enum NotificationEffect: String, Sendable, CaseIterable {
    /// A `delete_account` was made for the user.
    case deletionRequested = "deletion_requested"
    /// A `delete_account` of the user was open already.
    case deletionOpen = "deletion_open"
    /// The identity is known to be cut off; open requests take that as evidence.
    case linkUpdated = "link_updated"
    /// It says that the link is cut, but not when: no evidence, so the tokens are tried.
    case hinted
    /// It tells of what we did ourselves; a verdict may have risen to `proven`.
    case echo
    /// The policy is to report, or there is no user id to act on: somebody should look.
    case reported
    /// Nobody here has this subject.
    case unknownSubject = "unknown_subject"
    /// Several users have this subject; it is not known whom it is about.
    case sharedIdentity = "shared_identity"
    /// It is older than what is stored, or too old to be acted on.
    case stale
    /// It asks for nothing.
    case noted
    /// Durable, and acted on as soon as the intake is open and the vault has its key.
    case postponed
    /// It was not believed.
    case refused
}

/// What the operator wants done about a provider's notifications.
package struct NotificationPolicy: Hashable, Sendable {
    /// The account at the provider is gone, or the user asked there for erasure.
    package enum OnAccountDeleted: String, Sendable, CaseIterable {
        case deleteAccount = "delete_account"
        case report
    }

    /// The link between user and application was cut.
    package enum OnLinkCut: String, Sendable, CaseIterable {
        case update
        case report
    }

    package let onAccountDeleted: OnAccountDeleted
    package let onLinkCut: OnLinkCut

    package init(
        onAccountDeleted: OnAccountDeleted = .deleteAccount,
        onLinkCut: OnLinkCut = .update
    ) {
        (self.onAccountDeleted, self.onLinkCut) = (onAccountDeleted, onLinkCut)
    }

    package func mayUpdateLink(_ meaning: NotificationMeaning) -> Bool {
        meaning.cutsLink && onLinkCut == .update
    }

    package func mayDelete(_ meaning: NotificationMeaning) -> Bool {
        meaning.endsAccount && onAccountDeleted == .deleteAccount
    }
}

/// When a provider says that something happened, and what it means for what is stored.
package struct NotificationWeight: Hashable, Sendable {
    /// How far the provider's clock may be ahead of ours.
    private static let leeway = Duration.seconds(60)

    /// An identity of the user whom the notification names.
    package struct Link: Hashable, Sendable {
        package let createdAt: WallTime
        /// When a usable credential was stored or last seen alive.
        package let freshAt: WallTime?

        package init(createdAt: WallTime, freshAt: WallTime?) {
            (self.createdAt, self.freshAt) = (createdAt, freshAt)
        }
    }

    private let meaning: NotificationMeaning
    private let occurredAt: WallTime

    package init(_ meaning: NotificationMeaning, at occurredAt: WallTime) {
        (self.meaning, self.occurredAt) = (meaning, occurredAt)
    }

    /// Whether nothing usable is newer than the cut.
    package func cuts(_ link: Link) -> Bool {
        meaning.cutsLink && link.freshAt.map { $0 <= occurredAt } ?? true
    }

    /// Whether the account that ended is an earlier one than every link's.
    package func endsEarlier(_ links: [Link]) -> Bool {
        meaning.endsAccount && !links.isEmpty
            && links.allSatisfy { $0.createdAt > occurredAt + Self.leeway }
    }

    /// Whether it says nothing but that a link is cut, so that it is stale where it cuts none.
    package var needsCut: Bool { !meaning.endsAccount && !meaning.isHint }
}
