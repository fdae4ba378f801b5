/// Names the ids that a store finds in its rows for other stores, such as `app-db.customer`.
package struct KeyName: Hashable, Sendable, CustomStringConvertible {
    package let store: StoreName
    package let key: String

    package init(store: StoreName, key: String) { (self.store, self.key) = (store, key) }

    package var description: String { "\(store).\(key)" }
}
