package import Lifecycle

/// What would be done in one store.
package struct WirePlanTarget: WireObject, Codable, Hashable {
    package var name: String
    package var isKnown: Bool
    package var items: [WirePlanItem]
    package var rules: [PurgePlan.Rule]

    package init(_ part: PurgePlan.Part) {
        (name, isKnown, rules) = (part.target.rawValue, part.items != nil, part.rules)
        items = (part.items ?? []).map(WirePlanItem.init)
    }

    enum CodingKeys: String, CodingKey {
        case name, items, rules
        case isKnown = "known"
    }

    package static let fields: [WireField] = [
        .required("name", .text, "The target."),
        .required("known", .boolean, "False if this kind of store cannot count in advance."),
        .required("items", .list(.object("PlanItem")), "Tables, folders or prefixes, in order."),
        .required("rules", .list(.object("PlanRule")), "What the configuration says about it."),
    ]
}
