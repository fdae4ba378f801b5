import Lifecycle

/// Why a Redis server did not do its work; holds no key and no text of the server.
enum RedisError: Error {
    /// No connection, or no TLS that proves the server.
    case unreachable
    /// No answer in time, or the connection ended; the commands may have been carried out.
    case lost
    /// The password is wrong or missing.
    case unauthenticated
    /// The user's ACL does not permit a command or a key.
    case denied
    /// A node of a cluster: it has a part of the keys.
    case cluster
    /// Loading, failing over, busy with a script, a replica for the moment.
    case busy
    /// A key holds another type than the rule is for.
    case wrongType
    /// Any other error, or a reply that fits no command.
    case unusable
    case unusableFile

    /// Classifies the first word of an error reply.
    init(code: String) {
        self =
            switch code {
            case "NOAUTH", "WRONGPASS": .unauthenticated
            case "NOPERM": .denied
            case "MOVED", "ASK", "CROSSSLOT", "TRYAGAIN", "CLUSTERDOWN": .cluster
            case "LOADING", "BUSY", "MASTERDOWN", "READONLY", "MISCONF", "NOREPLICAS": .busy
            case "WRONGTYPE": .wrongType
            default: .unusable
            }
    }

    var failure: EffectFailure {
        switch self {
        case .unreachable: .unreachable
        case .lost: .lost
        case .unauthenticated, .denied, .cluster, .unusableFile: .misconfigured
        case .busy: .throttled(retryAfter: nil)
        case .wrongType, .unusable: .unusable
        }
    }
}
