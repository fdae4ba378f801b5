/// The checks of a component that the service paused: when they come, and whether a resume lasts.
package struct ComponentCheck: Hashable, Sendable, Retryable {
    /// Between two checks; the first check of a component comes as soon.
    package static let period = RetryPolicy.pausedComponent.delay(failures: 1)
    /// Longest pause between two checks of a component that is resumed and paused again.
    package static let pauseMax = RetryPolicy.pausedComponent.delay(failures: .max)
    /// A resume that lasts for so many pauses between checks makes up for the relapses.
    private static let lastingPauses = 4
    /// How long after a jump of the clock providers that the service paused are resumed.
    ///
    /// They may have refused what the wrong clock signed. Longer than any call that began before.
    package static let afterStep = Duration.seconds(120)

    /// How often it was paused soon after a resume, and when the next check is due.
    package var retry = Retry()
    private var resumedAt: WallTime?
    private var isBusy = false
    /// Reloaded during a check, which may have asked what was replaced.
    private var wasReloaded = false
    /// In the last list of pauses; a pause is not committed at once.
    private var wasListed = false
    /// What the last check found.
    package private(set) var problems: [String] = []

    package init() {}

    /// Whether a check can end the pause of a store, by the reason of the pause.
    package static func endsPauseOfStore(_ reason: String) -> Bool {
        reason != PauseReason.byOperator
    }

    /// Whether a check can end the pause of a provider, by the reason of the pause and the time of
    /// the last jump of the clock.
    package static func endsPauseOfProvider(
        _ reason: String,
        steppedAt: WallTime?,
        now: WallTime
    ) -> Bool {
        let isAfterStep = steppedAt.map { now.since($0) < afterStep } ?? false
        return reason == PauseReason.notSetUp || isAfterStep && reason != PauseReason.byOperator
    }

    /// The component is in the list of pauses; returns whether a check of it begins.
    package mutating func begin(at now: WallTime) -> Bool {
        judgeResume(at: now)
        wasListed = true
        // What is due later than any pause lasts was set by a clock that was ahead.
        let isDue = retry.wait(at: now).map { $0 > now + Self.pauseMax } ?? true
        guard !isBusy, isDue else { return false }
        isBusy = true
        wasReloaded = false
        return true
    }

    /// The component is not in the list of pauses; how often it was paused counts for a while.
    package mutating func unlist() {
        guard wasListed else { return }
        problems = []
        wasListed = false
    }

    /// Ends a check; returns whether the next one is due at once.
    ///
    /// With `mayResume`, this host resumes what the check found without problems.
    package mutating func end(_ found: [String], mayResume: Bool, at now: WallTime) -> Bool {
        let isDueAgain = wasReloaded && !found.isEmpty
        isBusy = false
        retryAt = isDueAgain ? nil : now + pause
        if found.isEmpty, mayResume { resumedAt = now }
        return isDueAgain
    }

    /// Keeps what a check found; returns whether it is to be reported.
    package mutating func note(_ found: [String]) -> Bool {
        defer { problems = found }
        return found != problems && !found.isEmpty
    }

    /// After a jump of the clock, what was learned counts no more.
    package mutating func restart() {
        retry.retryNow()
        resumedAt = nil
    }

    /// Other adapters are in force: it is checked at once, and again if a check is under way.
    package mutating func reload() {
        restart()
        wasReloaded = true
    }

    private var pause: Duration { RetryPolicy.pausedComponent.delay(failures: failures + 1) }

    /// What stops a purge may not show in a check: then the component is soon paused again.
    private mutating func judgeResume(at now: WallTime) {
        guard let resumedAt else { return }
        // Its resume may not be committed yet.
        guard !wasListed || now >= resumedAt + Self.period else { return }
        self.resumedAt = nil
        guard now < resumedAt + pause * Self.lastingPauses else { return retry.retryNow() }
        failures += 1
        retryAt = resumedAt + pause
    }
}
