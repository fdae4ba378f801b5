import Lifecycle

/// Keeps a provider's key set: fetched when needed, by one caller at a time, for an hour.
///
/// An actor, since concurrent sign-ins share it. A key id that the set lacks fetches it again, but
/// at most once a minute, so that made-up ids cannot turn us against the provider.
actor SigningKeyCache {
    /// How long a fetched set is used.
    static let lifetime = Duration.seconds(3600)
    /// The least time between two fetches after one that worked.
    static let refetchInterval = Duration.seconds(60)
    /// The least time between two fetches after one that failed; a user waits for this one.
    static let retryInterval = Duration.seconds(5)
    /// Callers that wait for one fetch; more are told to come back.
    static let waitersMax = 1024

    /// What looking for a key brought.
    enum Lookup: Sendable {
        case found(SigningKeySet)
        case unknownKey
        case unavailable
    }

    private let fetch: @Sendable () async -> SigningKeySet?
    private let now: @Sendable () -> WallTime
    private var keys: SigningKeySet?
    private var fetchedAt: WallTime?
    private var attemptedAt: WallTime?
    private var didFail = false
    private var isFetching = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    /// - Parameters:
    ///   - now: The clock.
    ///   - fetch: Brings the set, or `nil`; bounded in time by itself.
    init(
        now: @escaping @Sendable () -> WallTime,
        fetch: @escaping @Sendable () async -> SigningKeySet?
    ) {
        self.now = now
        self.fetch = fetch
    }

    /// Finds the set that holds `keyID`, fetching it when that may help.
    func lookUp(_ keyID: String) async -> Lookup {
        if let keys = current(), keys.contains(keyID) { return .found(keys) }
        await refresh()
        guard let keys = current() else { return .unavailable }
        return keys.contains(keyID) ? .found(keys) : .unknownKey
    }

    /// The set while it is fresh; a clock that went back makes it stale.
    private func current() -> SigningKeySet? {
        guard let keys, let fetchedAt, isWithin(Self.lifetime, since: fetchedAt) else { return nil }
        return keys
    }

    private func isWithin(_ span: Duration, since start: WallTime) -> Bool {
        let age = now().since(start)
        return age >= .zero && age < span
    }

    private func refresh() async {
        if isFetching {
            guard waiters.count < Self.waitersMax else { return }
            // Ends with the fetch, which has a deadline of its own.
            await withCheckedContinuation { waiters.append($0) }
            return
        }
        // A set that ran out may be fetched at once; a failure or an unknown id has to wait.
        let interval = didFail ? Self.retryInterval : Self.refetchInterval
        if let attemptedAt, isWithin(interval, since: attemptedAt) { return }
        isFetching = true
        attemptedAt = now()
        let fetched = await fetch()
        isFetching = false
        didFail = fetched == nil
        if let fetched {
            keys = fetched
            fetchedAt = now()
        }
        let woken = waiters
        waiters = []
        for waiter in woken { waiter.resume() }
    }
}
