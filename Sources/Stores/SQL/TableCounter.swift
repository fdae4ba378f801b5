internal import Lifecycle

/// What was done to one table, as rows of the receipt.
struct TableCounter {
    let table: String
    let action: PurgeCounts.Action
    var rowCount = 0
    /// Of these, rows without a creation time.
    var undatedCount = 0
    var newerCount = 0
    /// A table that no rule of the operator names.
    private(set) var isOmittedWhenEmpty = false

    init(table: String, action: PurgeCounts.Action) {
        (self.table, self.action) = (table, action)
    }

    /// What the count before the work found.
    init(of rule: TableRule, _ counts: (found: Int, newer: Int, undated: Int)) {
        self.init(table: rule.table, action: rule.receiptAction)
        newerCount = counts.newer
        if rule.action.changesRows {
            undatedCount = counts.undated
        } else {
            rowCount = counts.found - counts.newer
            isOmittedWhenEmpty = rule.action != .keep
        }
    }

    var entries: [PurgeCounts.Entry] {
        if isOmittedWhenEmpty, rowCount == 0 { return [] }
        let undated = min(undatedCount, rowCount)
        var entries = [PurgeCounts.Entry(name: table, action: action, rowCount: rowCount - undated)]
        entries[0].newerCount = newerCount
        if undated > 0 {
            entries.append(.init(name: table, action: action.of(.undated), rowCount: undated))
        }
        return entries
    }
}
