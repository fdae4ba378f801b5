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
