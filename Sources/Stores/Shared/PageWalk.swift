import Lifecycle

/// Works on a store page by page and leaves it time between them.
struct PageWalk: Sendable {
    /// The longest rest between two pages.
    static let restMax = Duration.seconds(1)
    /// Pages of a verification that has found something.
    static let countedPages = 100
    /// Pages of one walk; a listing that goes on is broken.
    static let pagesMax = 10_000_000

    let clock: StoreClock

    /// Works until there is no page more, resting as long as each took, at most a second.
    ///
    /// - Parameter work: Whether to call it again.
    /// - Throws: ``CallFailure``.
    func run(_ work: () async throws(CallFailure) -> Bool) async throws(CallFailure) {
        for _ in 0..<Self.pagesMax {
            let start = clock.uptime()
            guard try await work() else { return }
            try await rest(min(clock.uptime() - start, Self.restMax))
        }
        throw CallFailure(.unusable)
    }

    /// Works on each page of a listing.
    ///
    /// - Parameter work: Gets the position of a page, `nil` for the first one, and returns that of
    ///   the next.
    /// - Throws: ``CallFailure``.
    func pages<Position>(
        _ work: (Position?) async throws(CallFailure) -> Position?
    ) async throws(CallFailure) {
        var position: Position?
        try await run { () throws(CallFailure) in
            position = try await work(position)
            return position != nil
        }
    }

    /// - Throws: ``CallFailure`` when the work is called off.
    func rest(_ duration: Duration) async throws(CallFailure) {
        do {
            try await clock.rest(duration)
        } catch {
            throw CallFailure(.lost)
        }
    }
}
