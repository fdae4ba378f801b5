package import Lifecycle

/// One of the hosts that share a state in PostgreSQL.
package struct WireHost: WireObject, Codable, Hashable {
    package var name: String
    package var partitions: Int
    package var isSteward: Bool
    package var isThis: Bool
    package var renewedAt: WallTime

    package init(name: String, partitions: Int, renewedAt: WallTime) {
        (self.name, self.partitions, self.renewedAt) = (name, partitions, renewedAt)
        (isSteward, isThis) = (false, false)
    }

    enum CodingKeys: String, CodingKey {
        case name, partitions, renewedAt
        case isSteward = "steward"
        case isThis = "this"
    }

    package static let fields: [WireField] = [
        .required("name", .text, "Its name, from state.host or the machine."),
        .required("partitions", .integer, "Partitions of users that it works on, of 64."),
        .required("steward", .boolean, "Whether it does what is done once for all hosts."),
        .required("this", .boolean, "Whether it is the one that answers."),
        .required("renewed_at", .time, "When it last renewed its leases, by the database's clock."),
    ]
}
