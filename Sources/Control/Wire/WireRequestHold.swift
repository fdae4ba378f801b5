/// A hold that stops a request: its own, one on its user, or one on a target.
package struct WireRequestHold: WireRecord, Codable, Hashable {
    package var name: String?
    package var target: String?
    package var reason: String?

    package init(name: String? = nil, target: String? = nil, reason: String? = nil) {
        (self.name, self.target, self.reason) = (name, target, reason)
    }

    package static let members: [WireMember<WireRequestHold>] = [
        .optional("name", \.name, "By which it is lifted; absent for the request's own."),
        .optional("target", \.target, "The target that is held."),
        .optional("reason", \.reason, "Why, of the request's own and of one on its user."),
    ]
}
