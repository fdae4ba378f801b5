extension ChunkPace {
    /// Whether to commit after `elapsed`: another chunk and the commit, which took so long the last
    /// time, would hold the lock for too long.
    static func isOver(after elapsed: Duration, chunk: Duration, commit: Duration) -> Bool {
        elapsed >= SQLiteLimits.chunkTransactionSoft
            || elapsed + chunk + commit > SQLiteLimits.transactionSoft
    }
}
