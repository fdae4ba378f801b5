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

    package static let members: [WireMember<WireHost>] = [
        .field("name", \.name, "Its name, from state.host or the machine."),
        .field("partitions", \.partitions, "Partitions of users that it works on, of 64."),
        .field("steward", \.isSteward, "Whether it does what is done once for all hosts."),
        .field("this", \.isThis, "Whether it is the one that answers."),
        .field(
            "renewed_at",
            \.renewedAt,
            "When it last renewed its leases, by the database's clock."
        ),
    ]
}
