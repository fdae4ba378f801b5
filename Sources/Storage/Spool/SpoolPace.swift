package import Engine

/// When the mirror may commit again, and how long it may build.
///
/// Of the ``SpoolLimits/mirrorCommitsMax`` a second it takes half while states change, so that the
/// others are there once nothing changes: the last of many is seen at once.
///
/// The time to make a commit durable is three syncs and hardly depends on its rows. So the next one
/// follows that time, not the number of rows.
struct SpoolPace: Sendable {
    /// With the time the last commit took to become durable, that is ``SpoolLimits/mirrorHold``.
    private(set) var buildTime = SpoolLimits.mirrorBuildMax
    /// A quarter more than the last commit had time for, if it was cut.
    private(set) var rowCount = SpoolLimits.mirrorRowsMax
    /// When the last commits began, as many as a second may have.
    private var begun: [Duration] = []
    /// The signals that were counted when something had last changed, and when that was seen.
    private var lastChange = (count: -1, seenAt: Duration.zero)

    /// How long to wait before the next commit while states go on changing.
    func wait(at now: Duration) -> Duration {
        let pause = begun.last.map { $0 + SpoolLimits.mirrorInterval - now } ?? .zero
        return max(.zero, pause, waitWhenQuiet(at: now))
    }

    /// How long to wait before the next commit once they do not.
    func waitWhenQuiet(at now: Duration) -> Duration {
        guard begun.count == SpoolLimits.mirrorCommitsMax else { return .zero }
        return max(.zero, begun[0] + .seconds(1) - now)
    }

    /// How much longer nothing may change until the spool counts as quiet.
    mutating func restOfQuiet(signalCount: Int, isIdle: Bool, at now: Duration) -> Duration {
        if !isIdle || signalCount != lastChange.count { lastChange = (signalCount, now) }
        return max(.zero, lastChange.seenAt + SpoolLimits.mirrorQuiet - now)
    }

    mutating func note(_ commit: SpoolDatabase.MirrorCommit) {
        // Without a write no application had to wait.
        guard commit.writtenCount > 0 else { return }
        if begun.count == SpoolLimits.mirrorCommitsMax { begun.removeFirst() }
        begun.append(commit.beganAt)
        let rest = SpoolLimits.mirrorHold - (commit.endedAt - commit.builtAt)
        buildTime = min(max(rest, SpoolLimits.mirrorBuildMin), SpoolLimits.mirrorBuildMax)
        let more = max(commit.handledCount * 5 / 4, SpoolLimits.mirrorRowsMin)
        rowCount = min(commit.isCut ? more : .max, SpoolLimits.mirrorRowsMax)
    }
}

/// Growing pauses while another program holds the lock.
struct SpoolPause: Sendable {
    private(set) var total = Duration.zero

    static let lock = SpoolPause()

    mutating func take() -> Duration {
        let next = SpoolLimits.busyPauseMin + total / SpoolLimits.busyPauseShare
        let pause = min(next, SpoolLimits.busyPauseMax)
        total += pause
        return pause
    }
}

/// Monotonic time and waiting of the spool, injected so that tests own them.
package struct SpoolClock: Sendable {
    /// Time since any fixed point.
    package let uptime: @Sendable () -> Duration
    package let rest: Sleep

    /// Rests for a time; `false` in a cancelled task.
    func pause(_ time: Duration) async -> Bool {
        do {
            try await rest(time)
            return true
        } catch {
            // Only cancellation ends a rest early.
            return false
        }
    }

    package static func system() -> SpoolClock {
        SpoolClock(uptime: { BootClock.now }, rest: BootClock.sleeping)
    }
}
