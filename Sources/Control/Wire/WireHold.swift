package import Lifecycle

/// A hold on a target, or on rows of it.
package struct WireHold: WireObject, Codable, Hashable {
    package var name: String
    package var target: String
    package var table: String?
    package var conditions: [String]
    package var reason: String?
    package var since: WallTime
    package var uid: Int64?

    package init(_ hold: TargetHold) {
        name = hold.name
        target = hold.target.rawValue
        table = hold.rows?.table
        conditions = hold.rows.map(HoldInput.texts(of:)) ?? []
        reason = hold.reason
        since = hold.since
        uid = Int64(hold.uid)
    }

    enum CodingKeys: String, CodingKey {
        case name, target, table, reason, since, uid
        case conditions = "where"
    }

    package static let fields: [WireField] = [
        .required("name", .text, "By which it is lifted."),
        .required("target", .text, "The target that is held."),
        .optional("table", .text, "The table with held rows; without it all of the target."),
        .required("where", .list(.text), "Which rows, as COLUMN=VALUE; not for viewers."),
        .optional("reason", .text, "Why; not for viewers."),
        .required("since", .time, "Since when."),
        .optional("uid", .integer, "Login uid of the operator; not for viewers."),
    ]
}
