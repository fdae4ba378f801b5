import Lifecycle

/// Works on a store page by page and leaves it time between them.
struct PageWalk: Sendable {
    /// The longest rest between two pages.
    static let restMax = Duration.seconds(1)
    /// Pages of a verification that has found something.
    static let countedPages = 100
    /// Pages of one walk; a listing that goes on is broken.
    static let pagesMax = 10_000_000

    let clock: TargetClock

    /// Works until there is no page more, resting as long as each took, at most a second.
    ///
    /// - Parameter work: Tells whether it has to be called again.
    /// - Throws: ``GoogleFailure``.
    func run(_ work: () async throws(GoogleFailure) -> Bool) async throws(GoogleFailure) {
        for _ in 0..<Self.pagesMax {
            let start = clock.uptime()
            guard try await work() else { return }
            try await rest(min(clock.uptime() - start, Self.restMax))
        }
        throw GoogleFailure(.unusable)
    }

    /// Waits.
    ///
    /// - Throws: ``GoogleFailure`` when the work is called off.
    func rest(_ duration: Duration) async throws(GoogleFailure) {
        do {
            try await clock.rest(duration)
        } catch {
            throw GoogleFailure(.lost)
        }
    }
}
