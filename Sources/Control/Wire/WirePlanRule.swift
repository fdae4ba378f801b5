package import Lifecycle

/// What one section of the configuration says about what is purged, and how.
package struct WirePlanRule: WireObject, Codable, Hashable {
    package var key: String
    package var value: String

    package init(_ rule: PurgePlan.Rule) {
        key = rule.key
        value = rule.value
    }

    package static let fields: [WireField] = [
        .required("key", .text, "The section, such as `table users (id) set email`."),
        .required("value", .text, "Its settings, as in the configuration."),
    ]
}
