/// A hold that stops a request: its own, one on its user, or one on a store.
package struct WireRequestHold: WireObject, Codable, Hashable {
    package var name: String?
    package var store: String?
    package var reason: String?

    package init(name: String? = nil, store: String? = nil, reason: String? = nil) {
        (self.name, self.store, self.reason) = (name, store, reason)
    }

    package static let members: [WireMember<WireRequestHold>] = [
        .field("name", \.name, "By which it is lifted; absent for the request's own."),
        .field("store", \.store, "The store that is held."),
        .field("reason", \.reason, "Why, of the request's own and of one on its user."),
    ]
}
