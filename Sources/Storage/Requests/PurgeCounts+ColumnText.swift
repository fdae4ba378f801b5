import Encoding
import Lifecycle

/// The counts of a purge: `["posts","delete",12,0]` is a name, an action, rows and newer rows.
///
/// What an action has to it comes next, as in `["posts","unsearched",0,0,"email"]`; of a rule, the
/// properties of ``PurgeCounts/Details`` in their order.
///
/// Behind the entries, residual copies: `["sqlite_log",1767225600000,null]`, phrase, end and name,
/// or `["backups of the CRM",null]`, text and end; then `["begun"]` while the outcome of a pass is
/// unknown, and `["at least"]` where one never was.
extension PurgeCounts {
    static let emptyColumnText = "[]"

    private enum Word: String {
        case begun
        case atLeast = "at least"
    }

    var columnText: String {
        guard self != PurgeCounts() else { return Self.emptyColumnText }
        return ColumnText.encode { writer in
            for entry in entries {
                writer.array {
                    $0.string(entry.name)
                    $0.string(entry.action.code.rawValue)
                    $0.integer(Int64(entry.rowCount))
                    $0.integer(Int64(entry.newerCount))
                    for fact in entry.action.facts { $0.value(fact) }
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
            if isPassOpen { writer.array { $0.string(Word.begun.rawValue) } }
            if isAtLeast { writer.array { $0.string(Word.atLeast.rawValue) } }
        }
    }

    init(columnText: String) throws {
        self.init()
        guard columnText != Self.emptyColumnText else { return }
        var words: Set<Word> = []
        for row in try ColumnText(columnText, "counts").rows() {
            switch row.count {
            case 1: words.insert(try row.choice(0, as: Word.self))
            case 2:
                let until = try row.optional(1, row.time)
                residualCopies.append(ResidualCopies(text: try row.text(0), until: until))
            case 3:
                let until = try row.optional(1, row.time)
                let name = try row.optional(2, row.text)
                let content = ResidualCopies.Content.phrase(try row.text(0), name: name)
                residualCopies.append(ResidualCopies(content, until: until))
            default:
                entries.append(
                    Entry(
                        name: try row.text(0),
                        action: try Action(row),
                        rowCount: try row.int(2),
                        newerCount: try row.int(3)
                    )
                )
            }
        }
        restore(isPassOpen: words.contains(.begun), isAtLeast: words.contains(.atLeast))
    }
}

extension PurgeCounts.Action {
    /// What the state keeps behind the counts.
    fileprivate var facts: [JSONValue] {
        switch self {
        case .held, .shared, .notLookedFor, .withoutKeys, .accepted: []
        case .unreached(let column, let via): [.string(column), .string(via)]
        case .unsearched(let column): [.string(column)]
        case .passedOver(let reason): [.string(reason.rawValue)]
        case .rule(_, let details) where details == PurgeCounts.Details(): []
        case .rule(_, let details):
            [
                .text(details.parent), .text(details.reason), .text(details.part),
                .bool(details.hasNoTimestamps), .string(details.rows.rawValue),
            ]
        }
    }

    fileprivate init(_ row: ColumnText) throws {
        switch try row.choice(1, as: Code.self) {
        case .held: self = .held
        case .shared: self = .shared
        case .notLookedFor: self = .notLookedFor
        case .withoutKeys: self = .withoutKeys
        case .accepted: self = .accepted
        case .unreached: self = .unreached(try row.text(4), via: try row.text(5))
        case .unsearched: self = .unsearched(try row.text(4))
        case .passedOver: self = .passedOver(try row.choice(4, as: ReceiptSentence.self))
        case .delete, .anonymize, .keep:
            let verb = try row.choice(1, as: PlanItem.Action.self)
            self = .rule(verb, try PurgeCounts.Details(row))
        }
    }
}

extension PurgeCounts.Details {
    fileprivate init(_ row: ColumnText) throws {
        guard row.count > 4 else {
            self.init()
            return
        }
        self.init(
            parent: try row.optional(4, row.text),
            reason: try row.optional(5, row.text),
            part: try row.optional(6, row.text),
            hasNoTimestamps: try row.bool(7),
            rows: try row.choice(8, as: Rows.self)
        )
    }
}
