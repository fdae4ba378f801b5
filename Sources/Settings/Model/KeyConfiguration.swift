package import Lifecycle

/// One `[[target.key]]` section: ids that the rows of a user hold for other targets.
package struct KeyConfiguration: Hashable, Sendable {
    /// Unique within the target.
    package let name: String
    package let table: String
    /// The column that holds the user id.
    package let column: String
    package let idType: TableConfiguration.IDType
    /// The column that holds the ids.
    package let value: String
    package let valueType: TableConfiguration.IDType
    /// An id belongs to all users whose rows name it, and goes with the last of them.
    package let isShared: Bool
    /// `nil`: no cutoff.
    package let createdAt: CreatedAtColumn?
}

/// What `keyed_by` says: `TARGET.KEY`.
package struct KeyReference: Hashable, Sendable, CustomStringConvertible {
    package let target: TargetName
    package let key: String

    /// Reads `TARGET.KEY`; `nil` for anything else.
    init?(_ text: String) {
        let names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard names.count == 2, names.allSatisfy(TextRule.name.accepts) else { return nil }
        (target, key) = (TargetName(names[0]), names[1])
    }

    package var description: String { "\(target).\(key)" }
}
