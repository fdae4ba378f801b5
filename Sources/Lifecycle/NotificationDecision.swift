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
