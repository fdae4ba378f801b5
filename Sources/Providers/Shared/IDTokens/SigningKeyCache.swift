import HTTP
import Lifecycle

/// Keeps a provider's key set for an hour; a key id that the set lacks fetches it again, at most
/// once a minute.
struct SigningKeyCache: Sendable {
    /// How long a fetched set is used.
    static let lifetime = Duration.seconds(3600)

    /// What looking for a key brought.
    enum Lookup: Sendable {
        case found(SigningKeySet)
        case unknownKey
        case unavailable
    }

    private let keys: FetchedValue<SigningKeySet>

    /// - Parameters:
    ///   - now: The clock.
    ///   - fetch: Brings the set, or `nil`; bounded in time by itself.
    init(
        now: @escaping @Sendable () -> WallTime,
        fetch: @escaping @Sendable () async -> SigningKeySet?
    ) {
        keys = FetchedValue(lifetime: Self.lifetime, now: now, fetch: fetch)
    }

    /// Finds the set that holds `keyID`, fetching it when that may help.
    func lookUp(_ keyID: String) async -> Lookup {
        guard let keys = await keys.get(where: { $0.contains(keyID) }) else {
            return .unavailable
        }
        return keys.contains(keyID) ? .found(keys) : .unknownKey
    }
}
