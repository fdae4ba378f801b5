/// What asking a store what a purge of one user would do brought.
package enum PlanAnswer: Hashable, Sendable {
    case items([PlanItem])
    case unknown
    case failure(EffectFailure)
}

/// One row of a plan: a table (or folder, prefix) and what would be done there.
package struct PlanItem: Hashable, Sendable, Codable {
    /// What is done to the user's data.
    package enum Action: String, Hashable, Sendable, Codable, CaseIterable {
        case delete, anonymize, keep
    }

    /// Named as on the receipt (``PurgeCounts/Entry/name``).
    package let name: String
    package let action: Action
    /// Why data stays; `nil` for what is deleted.
    package let reason: String?
    package let count: Int
    /// It is at least ``count``, as a program or service that was asked said.
    package let isBounded: Bool
    package let newerCount: Int
    /// Of ``count``, those without a time of creation where others have one: they count as old.
    package let undatedCount: Int
    /// Nothing there has a time of creation, so that what is newer than the request goes, too.
    package let hasNoTimestamps: Bool

    package init(
        name: String,
        action: Action,
        reason: String? = nil,
        count: Int,
        isBounded: Bool = false,
        newerCount: Int = 0,
        undatedCount: Int = 0,
        hasNoTimestamps: Bool = false
    ) {
        (self.name, self.action, self.reason) = (name, action, reason)
        (self.count, self.isBounded, self.newerCount) = (count, isBounded, newerCount)
        (self.undatedCount, self.hasNoTimestamps) = (undatedCount, hasNoTimestamps)
    }
}
