/// A foreign key that may keep deletions of some users from ever ending.
struct BlockingKey: Sendable {
    /// The table whose rows refer to those of a user.
    let table: String
    let column: String
    /// One sentence, with the rule that mends it.
    let sentence: String
    /// True for a row that stops a deletion, in SQL; `nil` where each row that refers to a user's
    /// does.
    let proof: String?
    /// Its rows stop only their own deletion: where there are none, nothing is said.
    var isOfOwnRows = false

    /// Such as `items.order_id`.
    var name: String { "\(table).\(column)" }
}
