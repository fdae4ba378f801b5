/// When the mirror may commit again, and how long it may build.
///
/// What making a commit durable takes hardly depends on its rows: it is three syncs, and on a busy
/// machine the waits for a processor between them. So the time follows it, not the number of rows.
struct SpoolPace: Sendable {
    /// How long the next commit may be built; with what the last one took to become durable, that
    /// is ``SpoolLimits/mirrorHold``.
    private(set) var buildTime = SpoolLimits.mirrorBuildMax
    /// Rows to read for the next commit: a quarter more than the last one had time for.
    private(set) var rowCount = SpoolLimits.mirrorRowsMax
    private var allowedAt = Duration.zero

    /// How long to wait before the next commit.
    func wait(at now: Duration) -> Duration { max(.zero, allowedAt - now) }

    /// Learns from a commit.
    mutating func note(_ commit: SpoolDatabase.MirrorCommit, endedAt: Duration) {
        // Nothing written is no commit that anybody had to wait for.
        guard commit.writtenCount > 0 else { return }
        allowedAt = commit.beganAt + SpoolLimits.mirrorInterval
        let rest = SpoolLimits.mirrorHold - (endedAt - commit.builtAt)
        buildTime = min(max(rest, SpoolLimits.mirrorBuildMin), SpoolLimits.mirrorBuildMax)
        rowCount = min(
            max(commit.handledCount * 5 / 4, SpoolLimits.mirrorRowsMin),
            SpoolLimits.mirrorRowsMax
        )
    }
}
