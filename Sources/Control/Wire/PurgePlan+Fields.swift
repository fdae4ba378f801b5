package import Lifecycle

/// What one section of the configuration says about what is purged, and how.
extension PurgePlan.Rule: WireObject {
    package static let schemaName = "PlanRule"
    package static let fields: [WireField] = [
        .required("key", .text, "The section, such as `table users (id) set email`."),
        .required("value", .text, "Its settings, as in the configuration."),
    ]
}
