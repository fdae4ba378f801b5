package import Lifecycle

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
