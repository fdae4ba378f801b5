package import Lifecycle

/// The legal hold on one user.
package struct WireUserHold: WireObject, Codable, Hashable {
    package var isHeld: Bool
    package var since: WallTime?
    package var requestIDs: [RequestID]

    package init(isHeld: Bool, since: WallTime? = nil, requestIDs: [RequestID] = []) {
        (self.isHeld, self.since, self.requestIDs) = (isHeld, since, requestIDs)
    }

    enum CodingKeys: String, CodingKey {
        case since, requestIDs
        case isHeld = "held"
    }

    package static let fields: [WireField] = [
        .required("held", .boolean, "Whether the user is on hold."),
        .optional("since", .time, "Since when."),
        .required("request_ids", .list(.uuid), "The open requests that it stops."),
    ]
}
