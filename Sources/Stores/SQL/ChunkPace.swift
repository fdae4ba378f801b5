/// How many rows a chunk may have, by how long the last one took.
enum ChunkPace {
    /// The rows of the next chunk.
    ///
    /// It at most doubles, since the next rows may be larger, and shrinks at once.
    static func rows(after rows: Int, took: Duration) -> Int {
        let goal = SQLLimits.chunkGoal
        let fitting = took <= .zero ? rows * 2 : Int(Double(rows) * (goal / took))
        let range = SQLLimits.chunkRowsRange
        return min(max(min(fitting, rows * 2), range.lowerBound), range.upperBound)
    }
}
