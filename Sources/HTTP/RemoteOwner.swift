package import Lifecycle

/// Whose connection it is, for errors.
package enum RemoteOwner: Hashable, Sendable {
    case provider(ProviderName)
    case directory(ProviderName)
    case target(TargetName)
    case subscriber(SubscriberName)
    case queue(String)

    /// The word of the configuration for it.
    package var role: String {
        switch self {
        case .provider: "provider"
        case .directory: "directory"
        case .target: "target"
        case .subscriber: "subscriber"
        case .queue: "queue"
        }
    }

    package var name: String {
        switch self {
        case .provider(let name), .directory(let name): name.rawValue
        case .target(let name): name.rawValue
        case .subscriber(let name): name.rawValue
        case .queue(let name): name
        }
    }
}
