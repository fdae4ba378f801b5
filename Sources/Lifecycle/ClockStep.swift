/// A jump of the system's clock, and what was dated by the wrong one.
package struct ClockStep: Hashable, Sendable {
    /// What the wrong clock showed when the service last took over its time.
    package let from: WallTime
    /// What the wrong clock showed when the jump was noticed.
    package let to: WallTime
    /// How far the clock jumped: positive when it had been behind.
    package let by: Duration
    /// Which jump since the start of the process it is, from 1; 0 for one that was before.
    package let number: Int

    /// A clock that has run for ``Limits/clockTrustAge`` was right until lately.
    package init(from: WallTime, to: WallTime, by: Duration, number: Int = 0) {
        self.from = to.since(from) > Limits.clockTrustAge ? to - Limits.clockSettling : from
        (self.to, self.by, self.number) = (to, by, number)
    }

    /// What a clock that was set back a little must pass before anything is destroyed.
    package var waitsUntil: WallTime? {
        by < .zero && .zero - by <= Limits.clockWaitMax ? to : nil
    }

    /// Since when times may be wrong by the next jump: after a start, jumps follow each other.
    package var epochAfter: WallTime {
        (to.since(from) < Limits.clockSettling ? from : to - Limits.clockStepMin) + by
    }

    /// What the right clock showed when the jump was noticed: it dates nothing earlier.
    package var noticedAt: WallTime { to + by }

    /// The last time of the wrong clock, or of one that was slewed back while the service was down.
    package var latest: WallTime { to + Limits.clockStepMin - .milliseconds(1) }

    package func covers(_ time: WallTime) -> Bool { from <= time && time <= latest }

    package func corrected(_ time: WallTime) -> WallTime { covers(time) ? time + by : time }
}

extension Request {
    /// A clock that was behind dated the request too early: its cutoff moves, and it purges again.
    ///
    /// One that was ahead dated the user's rows too late, as well: the cutoff stays.
    package mutating func reclock(_ step: ClockStep, at now: WallTime) {
        guard !phase.isEnded else { return }
        if step.covers(acceptedAt) {
            notBefore = notBefore + step.by
            deadlineAt = deadlineAt + step.by
            let before = cutoff
            acceptedAt = min(acceptedAt + step.by, now)
            createdAt = min(createdAt + step.by, acceptedAt)
            for index in purges.indices {
                if step.by > .zero {
                    purges[index].purgeAgain(upTo: nil)
                } else {
                    purges[index].restoredAt = max(purges[index].restoredAt ?? before, before)
                }
            }
            if phase.parkReason == nil { dueAt = dueAt.map { _ in now } }
        }
        if step.by > .zero {
            for index in revocations.indices { revocations[index].reclock(step) }
        }
        for index in purges.indices {
            purges[index].judgedAt = purges[index].judgedAt.map(step.corrected)
        }
        clampTimes(at: now, latest: step.by < .zero ? now : now + Limits.backoffMax)
    }

    /// Sets to now what lies further ahead than ``Limits/backoffMax``, as no retry does.
    package mutating func clampTimes(at now: WallTime, latest: WallTime? = nil) {
        let latest = latest ?? now + Limits.backoffMax
        func clamp(_ time: inout WallTime?) { if let set = time, set > latest { time = now } }
        clamp(&lookup.retryTime)
        for index in revocations.indices {
            clamp(&revocations[index].retryAt)
            revocations[index].clampTimes(at: now)
            if let since = revocations[index].waitingSince, since > now {
                revocations[index].waitingSince = now
                dueAt = min(dueAt ?? now, now)
            }
        }
        for index in purges.indices { clamp(&purges[index].retryAt) }
        clamp(&approval.retryTime)
        if phase.parkReason == nil, phase.stage.map({ $0 >= .revoking }) ?? false { clamp(&dueAt) }
    }
}

extension Revocation {
    fileprivate mutating func reclock(_ step: ClockStep) {
        waitingSince = waitingSince.map(step.corrected)
        for index in credentials.indices {
            credentials[index].lastLiveAt = credentials[index].lastLiveAt.map(step.corrected)
            credentials[index].lastRefreshAt = credentials[index].lastRefreshAt.map(step.corrected)
        }
    }

    fileprivate mutating func clampTimes(at now: WallTime) {
        for index in credentials.indices {
            if let time = credentials[index].lastLiveAt, time > now {
                credentials[index].lastLiveAt = now
            }
            if let time = credentials[index].lastRefreshAt, time > now {
                credentials[index].lastRefreshAt = now
            }
        }
    }
}

extension CodeExchange {
    /// Nobody signs in later than now.
    package mutating func reclock(_ step: ClockStep, at now: WallTime) {
        createdAt = min(step.corrected(createdAt), now)
        retryAt = retryAt.map { _ in now }
    }
}

extension Optional where Wrapped: Retryable {
    fileprivate var retryTime: WallTime? {
        get { self?.retryAt }
        set { self?.retryAt = newValue }
    }
}
