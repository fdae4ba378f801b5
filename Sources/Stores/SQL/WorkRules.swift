internal import Lifecycle

/// What a plan is made of.
struct WorkRules: Sendable {
    let tables: [TableRule]
    var keys: [KeyRule] = []
    /// Rows that are left alone.
    var holds: [RowFilter] = []
}
