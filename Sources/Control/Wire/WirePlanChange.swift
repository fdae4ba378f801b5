package import Lifecycle

/// One line of the difference to the plan before.
package struct WirePlanChange: WireObject, Codable, Hashable {
    /// How it differs.
    package enum Kind: String, Sendable, CaseIterable {
        case added, removed, changed
    }

    package var kind: WireValue<Kind>
    package var provider: String?
    package var target: String?
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
        case .item(let target, let name, let action):
            (self.target, self.name, self.action) = (target.rawValue, name, action.rawValue)
        case .target(let target):
            self.target = target.rawValue
        case .rule(let target, let key):
            (self.target, rule) = (target.rawValue, key)
        }
    }

    package static let fields: [WireField] = [
        .required("kind", .choice(of: Kind.self), "How it differs."),
        .optional("provider", .text, "An identity at this provider."),
        .optional("target", .text, "A store."),
        .optional("name", .text, "The table of the store, or the client id at the provider."),
        .optional("action", .text, "What is done there."),
        .optional("was", .integer, "The count before."),
        .optional("now", .integer, "The count now."),
        .optional("rule", .text, "The section of the configuration."),
        .optional("rule_was", .text, "Its settings before."),
        .optional("rule_now", .text, "Its settings now."),
    ]
}
