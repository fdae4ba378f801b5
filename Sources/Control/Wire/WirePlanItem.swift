package import Lifecycle

/// One table (or folder, prefix) and what would be done there.
package struct WirePlanItem: WireObject, Codable, Hashable {
    package var name: String
    package var action: String
    package var count: Int
    package var isBounded: Bool
    package var newer: Int
    package var reason: String?

    package init(_ item: PlanItem) {
        name = item.name
        action = item.action.rawValue
        count = item.count
        isBounded = item.isBounded
        newer = item.fencedCount
        reason = item.reason
    }

    enum CodingKeys: String, CodingKey {
        case name, action, count, newer, reason
        case isBounded = "or_more"
    }

    package static let fields: [WireField] = [
        .required("name", .text, "As on the receipt."),
        .required("action", .choice(PlanItem.Action.allCases.map(\.rawValue)), "What is done."),
        .required("count", .integer, "Rows, files or objects of the user."),
        .required("or_more", .boolean, "The program that was asked says that there may be more."),
        .required("newer", .integer, "Newer than the request: left alone."),
        .optional("reason", .text, "Why data stays."),
    ]
}
