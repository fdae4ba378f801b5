/// What in a store keeps a user's data from being erased: names of the schema, never a value.
package struct Obstacle: Hashable, Sendable {
    /// The closed set of causes; `rawValue` is the code in the journal and in the API.
    package enum Kind: String, Sendable, CaseIterable {
        case foreignKey = "blocked_by_foreign_key"
        case trigger = "blocked_by_trigger"
        /// A CHECK, NOT NULL, UNIQUE or exclusion constraint.
        case constraint = "blocked_by_constraint"
        /// The service lacks a permission in one place, or a file is immutable.
        case permission = "blocked_by_permission"
        /// A column spells the user id, or another value that finds rows, otherwise.
        case spelling = "other_spelling"
        /// Rows or objects are dated later than now: the clock is behind, or the time is wrong.
        case future = "dated_in_future"
        /// Each purge is followed by a verification that finds rows: something puts them back.
        case remaining = "remaining_rows"
        /// Other transactions hold rows, which a purge passes over.
        case locked = "locked_rows"
        /// A value or an answer is larger than the service reads.
        case size = "blocked_by_size"
    }

    package let kind: Kind
    /// The table, or the path pattern; `nil` when the store does not say.
    package let place: String?
    /// The constraint, trigger or column; `nil` when the store does not say.
    package let name: String?
    /// More of the kind, when the store does not say which of them it is.
    package let others: [String]
    /// What the database says of it, where that quotes names of the schema alone.
    package let cause: String?
    /// How many rows it is about, where that is known.
    private var count: Int?

    package init(
        _ kind: Kind,
        at place: String? = nil,
        name: String? = nil,
        others: [String] = [],
        cause: String? = nil
    ) {
        (self.kind, self.place, self.name, self.others) = (kind, place, name, others)
        self.cause = cause
    }

    package init(locked count: Int, at place: String) {
        self.init(.locked, at: place)
        self.count = count
    }

    /// Names the constraint and the place, such as `foreign key 'posts_author' of 'posts'`.
    package var text: String {
        let what =
            switch kind {
            case .foreignKey: "foreign key"
            case .trigger: "trigger"
            case .constraint: "constraint"
            case .permission: "permission"
            case .spelling: "column"
            case .future: name == nil ? "an object" : "column"
            case .size: "a value"
            case .remaining, .locked: count.map { $0 == 1 ? "1 row" : "\($0) rows" } ?? "rows"
            }
        let named = name.map { listed([$0] + others, what) } ?? what
        let located = place.map { "\(named) of '\($0)'" } ?? named
        return switch kind {
        case .remaining: "\(located) are there again after each purge"
        case .locked: "\(located) \(count == 1 ? "is" : "are") locked by another transaction"
        case .size: "\(located) is \(cause ?? "too long"); delete or shorten it"
        case .spelling: "\(located) spells the value otherwise"
        case .future: "\(located) has a time in the future: correct the clock or the time"
        case .foreignKey, .trigger, .constraint, .permission:
            cause.map { "\(located): \($0)" } ?? located
        }
    }

    private func listed(_ names: [String], _ what: String) -> String {
        let list = names.map { "'\($0)'" }.joined(separator: ", ")
        return names.count == 1 ? "\(what) \(list)" : "one of the \(what)s \(list)"
    }
}
