/// When the mirror may commit again, and how long it may build.
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
    private var allowedAt = Duration.zero
    private var spareAt = Duration.zero

    /// How long to wait before the next commit while states go on changing.
    func wait(at now: Duration) -> Duration { max(.zero, allowedAt - now) }

    /// How long to wait before the next commit once they do not.
    ///
    /// One commit a second is kept for that: who waits for the last of many sees it at once.
    func waitWhenQuiet(at now: Duration) -> Duration { max(.zero, spareAt - now) }

    /// Learns from a commit.
    mutating func note(_ commit: SpoolDatabase.MirrorCommit, endedAt: Duration) {
        // Nothing written is no commit that anybody had to wait for.
        guard commit.writtenCount > 0 else { return }
        if commit.beganAt < allowedAt { spareAt = commit.beganAt + SpoolLimits.mirrorSpareInterval }
        allowedAt = commit.beganAt + SpoolLimits.mirrorInterval
        let rest = SpoolLimits.mirrorHold - (endedAt - commit.builtAt)
        buildTime = min(max(rest, SpoolLimits.mirrorBuildMin), SpoolLimits.mirrorBuildMax)
        rowCount =
            commit.isCut
            ? min(
                max(commit.handledCount * 5 / 4, SpoolLimits.mirrorRowsMin),
                SpoolLimits.mirrorRowsMax
            ) : SpoolLimits.mirrorRowsMax
    }
}
