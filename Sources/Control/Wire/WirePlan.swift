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

    package static let fields: [WireField] = [
        .required("hash", .text, "Stands for the whole plan; `approve` takes it."),
        .required("state", .choice(of: PlanState.self), "Whether it is approved, or has to be."),
        .optional("request_id", .uuid, "The request that it is the plan of; not in a dry run."),
        .optional("approved_at", .time, "When it was approved."),
        .optional("approved_by", .integer, "The login uid of who approved it."),
        .optional(
            "approvals_required",
            .integer,
            "How many operators must approve: 2 if the submitter is unknown."
        ),
        .optional("first_approved_by", .integer, "The login uid of the first of two."),
        .required("identities", .list(.object("PlanIdentity")), "What would be revoked."),
        .required(
            "stores",
            .atMost(ControlLimits.storesMax, .object("PlanStore")),
            "What would be erased, in order."
        ),
        .required(
            "changes",
            .list(.object("PlanChange")),
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

    package static let fields: [WireField] = [
        .required("identity_id", .uuid, "Names the identity."),
        .required("provider", .text, "The provider."),
        .required("client_id", .text, "The client id at the provider."),
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

    enum CodingKeys: String, CodingKey {
        case name, items, rules
        case isKnown = "known"
    }

    package static let fields: [WireField] = [
        .required("name", .text, "The store."),
        .required("known", .boolean, "False if this kind of store cannot count in advance."),
        .required("items", .list(.object("PlanItem")), "Tables, folders or prefixes, in order."),
        .required("rules", .list(.object("PlanRule")), "What the configuration says about it."),
    ]
}

/// What one section of the configuration says about what is purged, and how.
extension PurgePlan.Rule: WireObject {
    package static let schemaName = "PlanRule"
    package static let fields: [WireField] = [
        .required("key", .text, "The section, such as `table users (id) set email`."),
        .required("value", .text, "Its settings, as in the configuration."),
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

    package static let fields: [WireField] = [
        .required("name", .text, "As on the receipt."),
        .required("action", .choice(of: PlanItem.Action.self), "What is done."),
        .required("count", .integer, "Rows, files or objects of the user."),
        .required("or_more", .boolean, "The program says that there may be more."),
        .required("newer", .integer, "Newer than the request: left alone."),
        .required(
            "undated",
            .integer,
            "Of the count, those without a time of creation where others have one: they go as old."
        ),
        .required(
            "no_timestamps",
            .boolean,
            "Nothing there has a time of creation: what is newer than the request goes, too."
        ),
        .optional("reason", .text, "Why data stays."),
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

    package static let fields: [WireField] = [
        .required("kind", .choice(of: Kind.self), "How it differs."),
        .optional("provider", .text, "An identity at this provider."),
        .optional("store", .text, "A store."),
        .optional("name", .text, "The table of the store, or the client id at the provider."),
        .optional("action", .text, "What is done there."),
        .optional("was", .integer, "The count before."),
        .optional("now", .integer, "The count now."),
        .optional("rule", .text, "The section of the configuration."),
        .optional("rule_was", .text, "Its settings before."),
        .optional("rule_now", .text, "Its settings now."),
    ]
}
