package import Lifecycle

/// A reload that was refused: the configuration before it is still in force.
package struct WireRefusedReload: WireObject, Codable, Hashable {
    package var refusedAt: WallTime
    package var errors: [String]

    package init(refusedAt: WallTime, errors: [String]) {
        (self.refusedAt, self.errors) = (refusedAt, errors)
    }

    private static let errorList = WireFieldType.atMost(ControlLimits.reloadErrorsMax, .text)

    package static let fields: [WireField] = [
        .required("refused_at", .time, "When."),
        .required("errors", errorList, "Why, one line per problem; not for viewers."),
    ]
}
