/// A jump of the system's clock, and what was dated by the wrong one.
package struct ClockStep: Hashable, Sendable {
    /// What the wrong clock showed when the service last took over its time.
    package let from: WallTime
    /// What the wrong clock showed when the jump was noticed.
    package let to: WallTime
    /// How far the clock jumped: positive when it had been behind.
    package let by: Duration

    package init(from: WallTime, to: WallTime, by: Duration) {
        self.from = from
        self.to = to
        self.by = by
    }

    /// Whether a time that the service noted is one of the wrong clock.
    package func covers(_ time: WallTime) -> Bool { from <= time && time <= to }

    /// What the right clock would have shown at a time of the wrong one.
    package func corrected(_ time: WallTime) -> WallTime { covers(time) ? time + by : time }
}

extension Request {
    /// Takes over a jump of the clock.
    ///
    /// A clock that was behind dated the request too early, so its fence moves, and what was purged
    /// by the old fence is purged again. A clock that was ahead dated the user's rows too late, as
    /// it did the request: the fence stays where that clock was, so that these rows go, too.
    ///
    /// - Parameters:
    ///   - step: The jump.
    ///   - now: The time of the right clock.
    package mutating func reclock(_ step: ClockStep, at now: WallTime) {
        guard !phase.isEnded else { return }
        if step.covers(acceptedAt) {
            notBefore = notBefore + step.by
            deadlineAt = deadlineAt + step.by
            if step.by > .zero {
                acceptedAt = acceptedAt + step.by
                createdAt = min(createdAt + step.by, acceptedAt)
                for index in purges.indices { purges[index].purgeAgain(upTo: nil) }
            }
            if phase.parkReason == nil { dueAt = dueAt.map { _ in now } }
        }
        clampTimes(at: now)
    }

    /// Takes over that the true time of the request is not before this one.
    mutating func moveFence(to floor: WallTime) {
        guard fence < floor else { return }
        createdAt = max(createdAt, floor)
        acceptedAt = max(acceptedAt, floor)
        for index in purges.indices { purges[index].purgeAgain(upTo: nil) }
    }

    /// Brings what lies implausibly far ahead to now; a clock that was ahead has set it.
    ///
    /// No retry is further away than ``Limits/backoffMax``.
    package mutating func clampTimes(at now: WallTime) {
        let latest = now + Limits.backoffMax
        func clamp(_ time: inout WallTime?) { if let set = time, set > latest { time = now } }
        lookup.map { work in
            var work = work
            clamp(&work.retryAt)
            lookup = work
        }
        for index in revocations.indices {
            clamp(&revocations[index].retryAt)
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

extension Optional where Wrapped == Approval {
    fileprivate var retryTime: WallTime? {
        get { self?.retryAt }
        set { self?.retryAt = newValue }
    }
}
