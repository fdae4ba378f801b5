internal import Lifecycle

/// What happens to one user's rows in one table.
package struct TableRule: Hashable, Sendable {
    package private(set) var table: String
    /// The column that holds the user id, or what ``via`` names, maybe among others (``inside``).
    package let column: String
    package private(set) var idType = IDType.text
    package private(set) var action: TableAction
    /// Why rows are kept or only anonymized; shown on the receipt.
    package private(set) var reason: String?
    /// Without it the time cutoff cannot hold in this table, and the receipt says so.
    package private(set) var creation: CreationColumn?
    /// What ``column`` refers to; `nil` when it holds the user id.
    package var via: ParentColumn?
    /// What else must be true of the rows.
    package var conditions: [ColumnCondition] = []
    /// How the user id is made of several columns, of which ``column`` is one.
    package var idTemplate: IDTemplate?
    /// The operator says that the column identifies one user though it does not look so.
    package var identifiesUser = false
    /// How the column holds several ids; `nil` when its value is one.
    package var inside: InsideValue?
    /// All rows that ``via`` leads through have times, which protect these, too.
    package var isDatedByParents = false
}

extension TableRule {
    /// Rows go that no time of theirs, or of the rows that they hang on, protects.
    var hasNoTimestamps: Bool { !hasTimestamps && action.changesRows }

    /// The time of a row, or of the rows that it hangs on, protects it.
    package var hasTimestamps: Bool { creation != nil || isDatedByParents }

    /// The same rule, with tables named otherwise.
    func named(_ name: (String) -> String) -> TableRule {
        var copy = self
        copy.table = name(table)
        copy.via = via.map { ParentColumn(table: name($0.table), column: $0.column) }
        return copy
    }

    /// The same rows, which stay, whatever stands inside their values.
    var kept: TableRule {
        var copy = self
        (copy.action, copy.reason) = (.keep, nil)
        (copy.inside, copy.isDatedByParents) = (nil, false)
        return copy
    }

    /// For the receipt.
    var receiptAction: PurgeCounts.Action {
        let details = PurgeCounts.Details(
            parent: action.parent,
            reason: reason,
            part: inside.map { "\(column) only \($0.place)" },
            hasNoTimestamps: hasNoTimestamps
        )
        return .rule(planAction, details)
    }

    /// Empty unless the rule anonymizes.
    var masks: [ColumnMask] {
        guard case .anonymize(let masks) = action else { return [] }
        return masks
    }

    package func isMasked(_ column: String) -> Bool {
        masks.contains { $0.column.lowercased() == column.lowercased() }
    }

    var planAction: PlanItem.Action {
        switch action {
        case .delete: .delete
        case .anonymize: .anonymize
        case .keep: .keep
        case .cascade: .delete
        }
    }
}

/// How the application stores its user ids.
package enum IDType: String, Hashable, Sendable, CaseIterable {
    /// The id itself, compared byte by byte.
    case text
    /// The id must be a canonical decimal (`42`, `-7`; not `042` or `+42`) that fits 64 bits.
    case integer
    /// The id must be hexadecimal, or a UUID with its four dashes, all of it in one case.
    case blob
    /// The id must be a UUID with its four dashes, all of it in one case; PostgreSQL and MariaDB.
    case uuid
    /// The id as text, and the same decimal as a number; SQLite only.
    case mixed
}

/// What is done to the rows of a table.
package enum TableAction: Hashable, Sendable {
    case delete
    case anonymize([ColumnMask])
    /// Nothing; the rows are counted for the receipt.
    case keep
    /// Nothing; the database deletes them with rows of the table named, and they are counted.
    case cascade(from: String)

    /// Rows are deleted or masked by statements of ours.
    var changesRows: Bool {
        switch self {
        case .delete, .anonymize: true
        case .keep, .cascade: false
        }
    }

    /// Rows are gone afterwards.
    var deletes: Bool {
        switch self {
        case .delete, .cascade: true
        case .anonymize, .keep: false
        }
    }

    /// The table whose rows take these with them.
    var parent: String? {
        guard case .cascade(let table) = self else { return nil }
        return table
    }

    /// The values of `action`.
    enum Name: String, Sendable, CaseIterable {
        case delete, anonymize, keep
    }
}

/// How one column is made unrecognisable.
package struct ColumnMask: Hashable, Sendable {
    package let column: String
    package let strategy: MaskStrategy
    /// Where in its JSON; `nil` for the whole value, or for what the rule finds there.
    package private(set) var path: JSONPath?
}

/// The ways to make a value unrecognisable.
///
/// Each can be told from the outside, so that it can be verified and a second pass changes nothing.
package enum MaskStrategy: Hashable, Sendable {
    case null
    case text(String)
    case integer(Int64)
    /// `erased:` and 32 hexadecimal digits of a keyed hash; equal values of one column stay equal.
    case hash
    /// `erased:` and 32 hexadecimal digits, 20 of them random.
    case random
    /// The first so many characters and `*`; `*` alone for a text that has no more than these.
    case truncate(length: Int)
    /// The part that is found inside the value is taken out of it.
    case remove
}

/// The column that says when a row was made.
package struct CreationColumn: Hashable, Sendable {
    /// How the time is stored.
    package enum Unit: String, Hashable, Sendable, CaseIterable {
        case unixSeconds = "unix_s"
        case unixMilliseconds = "unix_ms"
        case iso8601
        /// The database's own type for it; not in SQLite.
        case timestamp
    }

    package let column: String
    package let unit: Unit
}
