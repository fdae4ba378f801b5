import Encoding
import Lifecycle

/// The counts of a purge: `["posts","delete",12,0]` is a name, an action, rows and newer rows.
///
/// Behind them, residual copies: `["soft-deleted objects",1767225600000]`, text and end or `null`;
/// then `["begun"]` while the outcome of a pass is unknown, and `["at least"]` where one never was.
extension PurgeCounts {
    static let emptyColumnText = "[]"
    private static let begun = "begun"
    private static let atLeast = "at least"

    var columnText: String {
        guard self != PurgeCounts() else { return Self.emptyColumnText }
        var rows: [[JSONValue]] = entries.map {
            [.string($0.name), .string($0.action), .int($0.rowCount), .int($0.newerCount)]
        }
        rows += residualCopies.map { [.string($0.text), .time($0.until)] }
        if isPassOpen { rows.append([.string(Self.begun)]) }
        if isAtLeast { rows.append([.string(Self.atLeast)]) }
        return ColumnText.encode(rows.map { .array($0) })
    }

    init(columnText: String) throws {
        self.init()
        guard columnText != Self.emptyColumnText else { return }
        var words: Set<String> = []
        for row in try ColumnText(columnText, "counts").rows() {
            switch row.count {
            case 1: words.insert(try row.text(0))
            case 2:
                let until = try row.optional(1, row.time)
                residualCopies.append(ResidualCopies(text: try row.text(0), until: until))
            default:
                entries.append(
                    Entry(
                        name: try row.text(0),
                        action: try row.text(1),
                        rowCount: try row.int(2),
                        newerCount: try row.int(3)
                    )
                )
            }
        }
        restore(isPassOpen: words.contains(Self.begun), isAtLeast: words.contains(Self.atLeast))
    }
}
