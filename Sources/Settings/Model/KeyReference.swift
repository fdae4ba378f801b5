package import Lifecycle

/// What `keyed_by` says: `TARGET.KEY`.
package struct KeyReference: Hashable, Sendable, CustomStringConvertible {
    package let target: TargetName
    package let key: String

    package init?(_ text: String) {
        let names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard names.count == 2, names.allSatisfy(TextRule.name.accepts) else { return nil }
        (target, key) = (TargetName(names[0]), names[1])
    }

    package var description: String { "\(target).\(key)" }
}
