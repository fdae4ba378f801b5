import Control
import Lifecycle

/// Holds on targets as people read them.
enum HoldReport {
    /// A table of holds.
    static func list(_ items: [WireHold]) -> String {
        var table = Table("NAME", "TARGET", "ROWS", "SINCE", "BY UID", "REASON")
        for item in items {
            let rows = item.table.map { "\($0) where " + item.conditions.joined(separator: ", ") }
            table.add(
                item.name,
                item.target,
                rows ?? "all",
                item.since.rfc3339,
                "\(item.uid)",
                item.reason
            )
        }
        return table.text
    }
}
