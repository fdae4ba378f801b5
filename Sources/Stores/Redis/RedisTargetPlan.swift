package import Lifecycle

/// A Redis server and where a user's data is in it.
package struct RedisTargetPlan: Sendable {
    /// Where the server listens.
    package enum Address: Hashable, Sendable {
        /// A Unix socket.
        case socket(String)
        /// With TLS unless `isPlain`, which is for loopback alone.
        case host(String, port: Int, isPlain: Bool)
    }

    /// Members of hashes, sets and sorted sets that belong to a user.
    package struct MemberRule: Hashable, Sendable, CustomStringConvertible {
        /// The keys that hold them.
        package let key: String
        package let member: UserPattern

        package init(key: String, member: UserPattern) {
            self.key = key
            self.member = member
        }

        package var description: String { "\(key) \(member)" }
    }

    package let name: TargetName
    package let address: Address
    /// The only authorities to trust; `nil` for the system's.
    package var caFile: String?
    /// The user of the server's ACL; `nil` for its default one.
    package var username: String?
    package var password: Secret?
    package var database = 0
    package var keys: [UserPattern] = []
    package var members: [MemberRule] = []
    /// How long its append-only file holds what was deleted; `nil` when nobody said.
    package var residualCopiesKept: Duration?
    /// How long one batch of commands may take.
    package var timeout = RedisLimits.reply

    package init(name: TargetName, address: Address) {
        self.name = name
        self.address = address
    }
}
