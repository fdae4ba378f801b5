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
