package import Lifecycle

/// An identity whose tokens would be revoked.
package struct WirePlanIdentity: WireObject, Codable, Hashable {
    package var identityID: IdentityID
    package var provider: String
    package var clientID: String

    package init(identityID: IdentityID, provider: String, clientID: String) {
        (self.identityID, self.provider, self.clientID) = (identityID, provider, clientID)
    }

    package static let fields: [WireField] = [
        .required("identity_id", .uuid, "Names the identity."),
        .required("provider", .text, "The provider."),
        .required("client_id", .text, "The client id at the provider."),
    ]
}
