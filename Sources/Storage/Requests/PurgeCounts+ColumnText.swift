import Encoding
import Lifecycle

/// The counts of a purge: `["posts","delete",12,0]` is a name, an action, rows and newer rows.
///
/// Behind them, residual copies: `["sqlite_log",1767225600000,null]`, phrase, end and name, or
/// `["backups of the CRM",null]`, text and end; then `["begun"]` while the outcome of a pass is
/// unknown, and `["at least"]` where one never was.
extension PurgeCounts {
    static let emptyColumnText = "[]"
    private static let begun = "begun"
    private static let atLeast = "at least"

    var columnText: String {
        guard self != PurgeCounts() else { return Self.emptyColumnText }
        return ColumnText.encode { writer in
            for entry in entries {
                writer.array {
                    $0.string(entry.name)
                    $0.string(entry.action.description)
                    $0.integer(Int64(entry.rowCount))
                    $0.integer(Int64(entry.newerCount))
                }
            }
            for copies in residualCopies {
                writer.array {
                    switch copies.content {
                    case .text(let text):
                        $0.string(text)
                        $0.integer(copies.until?.unixMilliseconds)
                    case .phrase(let id, let name):
                        $0.string(id)
                        $0.integer(copies.until?.unixMilliseconds)
                        $0.value(.text(name))
                    }
                }
            }
            if isPassOpen { writer.array { $0.string(Self.begun) } }
            if isAtLeast { writer.array { $0.string(Self.atLeast) } }
        }
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
            case 3:
                let until = try row.optional(1, row.time)
                let name = try row.optional(2, row.text)
                let content = ResidualCopies.Content.phrase(try row.text(0), name: name)
                residualCopies.append(ResidualCopies(content, until: until))
            default:
                guard let action = Action(try row.text(1)) else {
                    throw StorageError.malformed("counts")
                }
                entries.append(
                    Entry(
                        name: try row.text(0),
                        action: action,
                        rowCount: try row.int(2),
                        newerCount: try row.int(3)
                    )
                )
            }
        }
        restore(isPassOpen: words.contains(Self.begun), isAtLeast: words.contains(Self.atLeast))
    }
}
