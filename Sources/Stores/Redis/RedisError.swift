package import Lifecycle

/// Why a Redis server did not do its work; holds no key and no text of the server.
package struct RedisError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The closed set of causes.
    package enum Kind: String, Sendable, CaseIterable {
        /// No connection, or no TLS that proves the server.
        case unreachable
        /// No answer in time, or the connection ended; the commands may have been carried out.
        case lost
        /// The password is wrong or missing.
        case unauthenticated
        /// The user's ACL does not permit a command or a key.
        case denied = "not_permitted"
        /// The key lies on another node of a cluster, which this target does not follow.
        case cluster
        /// Loading, failing over, busy with a script, a replica for the moment.
        case busy
        /// A key holds another type than the rule is for.
        case wrongType = "wrong_type"
        /// Any other error, or a reply that fits no command.
        case unusable = "unusable_answer"
        /// A certificate file that cannot be used.
        case unusableFile = "unreadable_ca_file"
    }

    package let kind: Kind
    package let target: TargetName

    package init(_ kind: Kind, target: TargetName) {
        self.kind = kind
        self.target = target
    }

    /// Classifies the first word of an error reply.
    init(code: String, target: TargetName) {
        let kind: Kind =
            switch code {
            case "NOAUTH", "WRONGPASS": .unauthenticated
            case "NOPERM": .denied
            case "MOVED", "ASK", "CROSSSLOT": .cluster
            case "LOADING", "BUSY", "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN", "READONLY", "MISCONF",
                "NOREPLICAS":
                .busy
            case "WRONGTYPE": .wrongType
            default: .unusable
            }
        self.init(kind, target: target)
    }

    /// What the error means for the orders that met it.
    package var failure: EffectFailure {
        switch kind {
        case .unreachable: .unreachable
        case .lost: .lost
        case .unauthenticated, .denied, .cluster, .unusableFile: .misconfigured
        case .busy: .throttled(retryAfter: nil)
        case .wrongType, .unusable: .unusable
        }
    }

    package var description: String { "cannot purge target at '\(target)' (\(kind.rawValue))" }
}
