/// When the mirror may commit again, and how long it may build.
///
/// Four commits a second are allowed (``SpoolLimits/mirrorCommitsMax``). While states change it
/// takes half of them, so that the others are there once nothing changes any more: who waits for
/// the last of many sees it at once, also when that takes two commits.
///
/// What making a commit durable takes hardly depends on its rows: it is three syncs, and on a busy
/// machine the waits for a processor between them. So the time follows it, not the number of rows.
struct SpoolPace: Sendable {
    /// How long the next commit may be built; with what the last one took to become durable, that
    /// is ``SpoolLimits/mirrorHold``.
    private(set) var buildTime = SpoolLimits.mirrorBuildMax
    /// Rows to read for the next commit: a quarter more than the last one had time for, if it had
    /// not time for all.
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
        // Nothing written is no commit that anybody had to wait for.
        guard commit.writtenCount > 0 else { return }
        if begun.count == SpoolLimits.mirrorCommitsMax { begun.removeFirst() }
        begun.append(commit.beganAt)
        let rest = SpoolLimits.mirrorHold - (commit.endedAt - commit.builtAt)
        buildTime = min(max(rest, SpoolLimits.mirrorBuildMin), SpoolLimits.mirrorBuildMax)
        rowCount =
            commit.isCut
            ? min(
                max(commit.handledCount * 5 / 4, SpoolLimits.mirrorRowsMin),
                SpoolLimits.mirrorRowsMax
            ) : SpoolLimits.mirrorRowsMax
    }
}
