import Lifecycle

extension PurgeAnswer {
    /// What went of each table or place; `nil` for a purge that is not done.
    var rowCounts: [Int]? {
        guard case .done(let counts) = self else { return nil }
        return counts.entries.map(\.rowCount)
    }
}
