package import Lifecycle

/// Where a plan stands with its approval.
package enum PlanState: String, Sendable, CaseIterable {
    /// Nobody has to approve it.
    case notRequired = "not_required"
    case awaitingApproval = "awaiting_approval"
    case approved
}

/// What deleting one account would do, everywhere.
package struct WirePlan: WireObject, Codable, Hashable {
    package var hash: String
    package var state: WireValue<PlanState>
    package var requestID: RequestID?
    package var approvedAt: WallTime?
    package var approvedBy: Int?
    package var approvalsRequired: Int?
    package var firstApprovedBy: Int?
    package var identities: [WirePlanIdentity] = []
    package var stores: [WirePlanStore] = []
    package var changes: [WirePlanChange] = []

    package init(_ plan: PurgePlan, state: PlanState) {
        (hash, self.state) = (plan.hash, .known(state))
        identities = plan.links.map(WirePlanIdentity.init)
        stores = plan.parts.map(WirePlanStore.init)
    }

    package static let members: [WireMember<WirePlan>] = [
        .field("hash", \.hash, "Stands for the whole plan; `approve` takes it."),
        .field("state", \.state, "Whether it is approved, or has to be."),
        .field("request_id", \.requestID, "The request that it is the plan of; not in a dry run."),
        .field("approved_at", \.approvedAt, "When it was approved."),
        .field("approved_by", \.approvedBy, "The login uid of who approved it."),
        .field(
            "approvals_required",
            \.approvalsRequired,
            "How many operators must approve: 2 if the submitter is unknown."
        ),
        .field("first_approved_by", \.firstApprovedBy, "The login uid of the first of two."),
        .field("identities", \.identities, "What would be revoked."),
        .field("stores", \.stores, "What would be erased, in order."),
        .field(
            "changes",
            \.changes,
            "What differs from the plan that was approved, or shown, before."
        ),
    ]
}

/// An identity whose tokens would be revoked.
package struct WirePlanIdentity: WireObject, Codable, Hashable {
    package var identityID: IdentityID
    package var provider: String
    package var clientID: String

    package init(_ link: PurgePlan.Link) {
        (identityID, provider, clientID) = (link.identity, link.provider.rawValue, link.clientID)
    }

    package static let members: [WireMember<WirePlanIdentity>] = [
        .field("identity_id", \.identityID, "Names the identity."),
        .field("provider", \.provider, "The provider."),
        .field("client_id", \.clientID, "The client id at the provider."),
    ]
}

/// What would be done in one store.
package struct WirePlanStore: WireObject, Codable, Hashable {
    package var name: String
    package var isKnown: Bool
    package var items: [WirePlanItem]
    package var rules: [PurgePlan.Rule]

    package init(_ part: PurgePlan.Part) {
        (name, isKnown, rules) = (part.store.rawValue, part.items != nil, part.rules)
        items = (part.items ?? []).map(WirePlanItem.init)
    }

    package static let listMax: Int? = ControlLimits.storesMax

    enum CodingKeys: String, CodingKey {
        case name, items, rules
        case isKnown = "known"
    }

    package static let members: [WireMember<WirePlanStore>] = [
        .field("name", \.name, "The store."),
        .field("known", \.isKnown, "False if this kind of store cannot count in advance."),
        .field("items", \.items, "Tables, folders or prefixes, in order."),
        .field("rules", \.rules, "What the configuration says about it."),
    ]
}

/// What one section of the configuration says about what is purged, and how.
extension PurgePlan.Rule: WireObject {
    package static let schemaName = "PlanRule"
    package static let members: [WireMember<PurgePlan.Rule>] = [
        .field("key", \.key, "The section, such as `table users (id) set email`."),
        .field("value", \.value, "Its settings, as in the configuration."),
    ]
}

/// One table (or folder, prefix) and what would be done there.
package struct WirePlanItem: WireObject, Codable, Hashable {
    package var name: String
    package var action: String
    package var count: Int
    package var isBounded: Bool
    package var newer: Int
    package var undated: Int
    package var hasNoTimestamps: Bool
    package var reason: String?

    package init(_ item: PlanItem) {
        name = item.name
        action = item.action.rawValue
        count = item.count
        isBounded = item.isBounded
        newer = item.newerCount
        undated = item.undatedCount
        hasNoTimestamps = item.hasNoTimestamps
        reason = item.reason
    }

    enum CodingKeys: String, CodingKey {
        case name, action, count, newer, undated, reason
        case isBounded = "orMore"
        case hasNoTimestamps = "noTimestamps"
    }

    package static let members: [WireMember<WirePlanItem>] = [
        .field("name", \.name, "As on the receipt."),
        .field("action", \.action, as: .choice(of: PlanItem.Action.self), "What is done."),
        .field("count", \.count, "Rows, files or objects of the user."),
        .field("or_more", \.isBounded, "The program says that there may be more."),
        .field("newer", \.newer, "Newer than the request: left alone."),
        .field(
            "undated",
            \.undated,
            "Of the count, those without a time of creation where others have one: they go as old."
        ),
        .field(
            "no_timestamps",
            \.hasNoTimestamps,
            "Nothing there has a time of creation: what is newer than the request goes, too."
        ),
        .field("reason", \.reason, "Why data stays."),
    ]
}

/// One line of the difference to the plan before.
package struct WirePlanChange: WireObject, Codable, Hashable {
    /// How it differs.
    package enum Kind: String, Sendable, CaseIterable {
        case added, removed, changed
    }

    package var kind: WireValue<Kind>
    package var provider: String?
    package var store: String?
    package var name: String?
    package var action: String?
    package var was: Int?
    package var now: Int?
    package var rule: String?
    package var ruleWas: String?
    package var ruleNow: String?

    package init(_ change: PlanChange) {
        kind = .known(change.isNew ? .added : change.isGone ? .removed : .changed)
        was = change.was?.count
        now = change.now?.count
        ruleWas = change.ruleWas
        ruleNow = change.ruleNow
        switch change.subject {
        case .link(let link):
            (provider, name) = (link.provider.rawValue, link.clientID)
        case .item(let store, let name, let action):
            (self.store, self.name, self.action) = (store.rawValue, name, action.rawValue)
        case .store(let store):
            self.store = store.rawValue
        case .rule(let store, let key):
            (self.store, rule) = (store.rawValue, key)
        }
    }

    package static let members: [WireMember<WirePlanChange>] = [
        .field("kind", \.kind, "How it differs."),
        .field("provider", \.provider, "An identity at this provider."),
        .field("store", \.store, "A store."),
        .field("name", \.name, "The table of the store, or the client id at the provider."),
        .field("action", \.action, "What is done there."),
        .field("was", \.was, "The count before."),
        .field("now", \.now, "The count now."),
        .field("rule", \.rule, "The section of the configuration."),
        .field("rule_was", \.ruleWas, "Its settings before."),
        .field("rule_now", \.ruleNow, "Its settings now."),
    ]
}
