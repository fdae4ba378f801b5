import Lifecycle

/// A Redis server and where a user's data is in it.
package struct RedisStorePlan: Sendable {
    /// Where the server listens.
    package enum Address: Hashable, Sendable {
        case socket(String)
        /// With TLS unless `isPlain`, which is for loopback alone.
        case host(String, port: Int, isPlain: Bool)
    }

    /// Members of hashes, sets and sorted sets that belong to a user.
    struct MemberRule: Sendable, CustomStringConvertible {
        /// The keys that hold them.
        let key: String
        let member: UserPattern

        var description: String { "\(key) \(member)" }
    }

    let name: StoreName
    var address: Address
    /// The only authorities to trust; `nil` for the system's.
    var caFile: String?
    /// The user of the server's ACL; `nil` for its default one.
    var username: String?
    var password: Secret?
    var database = 0
    var keys: [UserPattern] = []
    var members: [MemberRule] = []
    /// How long its append-only file holds what was deleted; `nil` when the settings do not say.
    var residualCopiesKept: Duration?
    /// How long one batch of commands may take.
    var timeout = RedisLimits.reply

    /// The rules as the receipt names them.
    var rules: [String] { keys.map(\.description) + members.map(\.description) }
}
