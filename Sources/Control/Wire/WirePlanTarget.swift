/// What would be done in one store.
package struct WirePlanTarget: WireObject, Codable, Hashable {
    package var name: String
    package var isKnown: Bool
    package var items: [WirePlanItem]

    package init(name: String, isKnown: Bool, items: [WirePlanItem] = []) {
        self.name = name
        self.isKnown = isKnown
        self.items = items
    }

    enum CodingKeys: String, CodingKey {
        case name, items
        case isKnown = "known"
    }

    package static let fields: [WireField] = [
        .required("name", .text, "The target."),
        .required("known", .boolean, "False when this kind of store cannot tell beforehand."),
        .required("items", .list(.object("PlanItem")), "Tables, folders or prefixes, in order."),
    ]
}
