/// What keeps a store from erasing a user.
package struct WireBlock: WireObject, Codable, Hashable {
    package var store: String
    /// ``Lifecycle/Obstacle/Kind``.
    package var error: String

    package init(store: String, error: String) { (self.store, self.error) = (store, error) }

    package static let members: [WireMember<WireBlock>] = [
        .field("store", \.store, "The store that refuses the purge."),
        .field("error", \.error, "A code: what stands in the way."),
    ]
}
