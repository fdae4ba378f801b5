internal import Lifecycle

/// What was done to one table, as rows of the receipt.
struct TableCounter {
    let table: String
    let action: String
    var rowCount = 0
    /// Of these, rows without a creation time.
    var undatedCount = 0
    var newerCount = 0

    var entries: [PurgeCounts.Entry] {
        let undated = min(undatedCount, rowCount)
        var entries = [
            PurgeCounts.Entry(
                name: table,
                action: action,
                rowCount: rowCount - undated,
                newerCount: newerCount
            )
        ]
        if undated > 0 {
            entries.append(
                PurgeCounts.Entry(name: table, action: action + ", undated rows", rowCount: undated)
            )
        }
        return entries
    }
}
