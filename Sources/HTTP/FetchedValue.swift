package import Lifecycle

/// Keeps one value that a provider publishes: fetched when needed, by one caller at a time.
///
/// Asking for a newer value fetches it again, but at most once per interval, so that nobody can
/// turn the service against the provider.
package actor FetchedValue<Value: Sendable> {
    /// Callers that wait for one fetch.
    private static var waitersMax: Int { 1024 }

    /// The least time between two fetches after one that worked.
    package static var refetchInterval: Duration { .seconds(60) }

    private let lifetime: Duration
    private let fetch: @Sendable () async -> Value?
    private let now: @Sendable () -> WallTime
    private var value: Value?
    private var fetchedAt: WallTime?
    private var attemptedAt: WallTime?
    private var didFail = false
    private var isFetching = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    /// Uses a fetched value for `lifetime`; `fetch` must be bounded in time by itself.
    package init(
        lifetime: Duration,
        now: @escaping @Sendable () -> WallTime,
        fetch: @escaping @Sendable () async -> Value?
    ) {
        (self.lifetime, self.now, self.fetch) = (lifetime, now, fetch)
    }

    /// The newest value, fetched when there is none or `isEnough` wants a newer one; it may still
    /// not be enough.
    package func get(where isEnough: @Sendable (Value) -> Bool = { _ in true }) async -> Value? {
        if let value = current(), isEnough(value) { return value }
        await refresh()
        return current()
    }

    /// The value while it is fresh; a clock that went back makes it stale.
    private func current() -> Value? {
        guard let value, let fetchedAt, isWithin(lifetime, since: fetchedAt) else { return nil }
        return value
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
        // A value that ran out may be fetched at once; a failure or a wish for more has to wait.
        let interval = didFail ? RetryPolicy.fetchedValue.first : Self.refetchInterval
        if let attemptedAt, isWithin(interval, since: attemptedAt) { return }
        isFetching = true
        attemptedAt = now()
        let fetched = await fetch()
        isFetching = false
        didFail = fetched == nil
        if let fetched {
            value = fetched
            fetchedAt = now()
        }
        let woken = waiters
        waiters = []
        for waiter in woken { waiter.resume() }
    }
}
