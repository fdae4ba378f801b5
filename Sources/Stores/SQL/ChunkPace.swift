/// How many rows a chunk may have, by how long the last one took.
enum ChunkPace {
    /// The rows of the next chunk.
    ///
    /// It at most doubles, since the next rows may be larger, and shrinks at once.
    static func rows(
        after rows: Int,
        took: Duration,
        goal: Duration = SQLLimits.chunkGoal
    ) -> Int {
        let fitting = took <= .zero ? rows * 2 : Int(Double(rows) * (goal / took))
        let range = SQLLimits.chunkRowsRange
        return min(max(min(fitting, rows * 2), range.lowerBound), range.upperBound)
    }

    /// The same at a server.
    ///
    /// Where few rows take long, others had the processor, or InnoDB passed over rows that were
    /// deleted before: fewer rows would take as long. Only what takes very long has large rows.
    static func serverRows(after rows: Int, took: Duration) -> Int {
        let next = Self.rows(after: rows, took: took, goal: SQLLimits.serverChunkGoal)
        return took < SQLLimits.serverChunkMax ? max(next, min(rows, SQLLimits.chunkRows)) : next
    }
}
