/// When the mirror may commit again, and how many rows it may take.
struct SpoolPace: Sendable {
    /// Rows of the next commit.
    private(set) var rowCount = SpoolLimits.mirrorRowsStart
    private var allowedAt = Duration.zero

    /// How long to wait before the next commit.
    func wait(at now: Duration) -> Duration { max(.zero, allowedAt - now) }

    /// Learns from a commit: half as many rows when making it durable took too long, more when it
    /// was quick.
    ///
    /// The time before that is bounded by itself (``SpoolLimits/writeBudget``).
    mutating func note(_ commit: SpoolDatabase.MirrorCommit, endedAt: Duration) {
        // Nothing written is no commit that anybody had to wait for.
        guard commit.writtenCount > 0 else { return }
        allowedAt = commit.beganAt + SpoolLimits.mirrorInterval
        let syncing = endedAt - commit.builtAt
        if syncing > SpoolLimits.mirrorSyncMax {
            rowCount = max(SpoolLimits.mirrorRowsMin, rowCount / 2)
        } else if syncing < SpoolLimits.mirrorSyncMax / 2 {
            rowCount = min(SpoolLimits.mirrorRowsMax, rowCount + rowCount / 2)
        }
    }
}
