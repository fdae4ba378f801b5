/// A hold that stops a request: its own, one on its user, or one on a store.
package struct WireRequestHold: WireRecord, Codable, Hashable {
    package var name: String?
    package var store: String?
    package var reason: String?

    package init(name: String? = nil, store: String? = nil, reason: String? = nil) {
        (self.name, self.store, self.reason) = (name, store, reason)
    }

    package static let members: [WireMember<WireRequestHold>] = [
        .optional("name", \.name, "By which it is lifted; absent for the request's own."),
        .optional("store", \.store, "The store that is held."),
        .optional("reason", \.reason, "Why, of the request's own and of one on its user."),
    ]
}
