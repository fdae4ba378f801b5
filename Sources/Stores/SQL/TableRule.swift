internal import Lifecycle

/// What happens to one user's rows in one table.
package struct TableRule: Hashable, Sendable {
    package let table: String
    /// The column that holds the user id.
    package let column: String
    package let idType: IDType
    package let action: TableAction
    /// Why rows are kept or only anonymized; shown on the receipt.
    package let reason: String?
    /// Without it the time cutoff cannot hold in this table, and the receipt says so.
    package let creation: CreationColumn?

    package init(
        table: String,
        column: String,
        idType: IDType = .text,
        action: TableAction,
        reason: String? = nil,
        creation: CreationColumn? = nil
    ) {
        self.table = table
        self.column = column
        self.idType = idType
        self.action = action
        self.reason = reason
        self.creation = creation
    }
}

extension TableRule {
    /// Rows go that no time of theirs protects.
    var hasNoTimestamps: Bool { creation == nil && action != .keep }

    /// For the receipt, such as `delete, cutoff: none`.
    var receiptAction: String {
        let reason = reason.map { ": \($0)" } ?? ""
        let cutoff = hasNoTimestamps ? ", cutoff: none" : ""
        return planAction.rawValue + reason + cutoff
    }

    var planAction: PlanItem.Action {
        switch action {
        case .delete: .delete
        case .anonymize: .anonymize
        case .keep: .keep
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
    /// The id must be a UUID with its four dashes, all of it in one case; PostgreSQL only.
    case uuid
}

/// What is done to the rows of a table.
package enum TableAction: Hashable, Sendable {
    case delete
    case anonymize([ColumnMask])
    /// Nothing; the rows are counted for the receipt.
    case keep

    /// The values of `action`.
    enum Name: String, Sendable, CaseIterable {
        case delete, anonymize, keep
    }
}

/// How one column is made unrecognisable.
package struct ColumnMask: Hashable, Sendable {
    package let column: String
    package let strategy: MaskStrategy

    package init(column: String, strategy: MaskStrategy) {
        self.column = column
        self.strategy = strategy
    }
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
}

/// The column that says when a row was made.
package struct CreationColumn: Hashable, Sendable {
    /// How the time is stored.
    package enum Unit: String, Hashable, Sendable, CaseIterable {
        case unixSeconds = "unix_s"
        case unixMilliseconds = "unix_ms"
        case iso8601
        /// The database's own type for it; PostgreSQL only.
        case timestamp
    }

    package let column: String
    package let unit: Unit

    package init(column: String, unit: Unit) {
        self.column = column
        self.unit = unit
    }
}
