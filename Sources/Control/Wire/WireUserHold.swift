package import Lifecycle

/// The legal hold on one user.
package struct WireUserHold: WireObject, Codable, Hashable {
    package var name: String
    package var isHeld: Bool
    package var since: WallTime?
    package var requestIDs: [RequestID]

    package init(name: String, isHeld: Bool, since: WallTime?, requestIDs: [RequestID] = []) {
        (self.name, self.isHeld, self.since, self.requestIDs) = (name, isHeld, since, requestIDs)
    }

    enum CodingKeys: String, CodingKey {
        case name, since, requestIDs
        case isHeld = "held"
    }

    package static let fields: [WireField] = [
        .required("name", .text, "By which it is listed and released."),
        .required("held", .boolean, "Whether the user is on hold."),
        .optional("since", .time, "Since when."),
        .required("request_ids", .list(.uuid), "The open requests that it stops."),
    ]
}
