package import Lifecycle

/// An identity whose tokens would be revoked.
package struct WirePlanIdentity: WireObject, Codable, Hashable {
    package var identityID: IdentityID
    package var provider: String
    package var clientID: String

    package init(_ link: PurgePlan.Link) {
        (identityID, provider, clientID) = (link.identity, link.provider.rawValue, link.clientID)
    }

    package static let fields: [WireField] = [
        .required("identity_id", .uuid, "Names the identity."),
        .required("provider", .text, "The provider."),
        .required("client_id", .text, "The client id at the provider."),
    ]
}
