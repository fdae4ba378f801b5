/// Names the ids that a target finds in its rows for other targets, such as `app-db.customer`.
package struct KeyName: Hashable, Sendable, CustomStringConvertible {
    package let target: TargetName
    package let key: String

    package init(target: TargetName, key: String) { (self.target, self.key) = (target, key) }

    package var description: String { "\(target).\(key)" }
}
