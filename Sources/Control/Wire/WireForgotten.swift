package import Lifecycle

/// An identity that an operator had the service forget: nothing was revoked for it.
package struct WireForgotten: WireObject, Codable, Hashable {
    package var provider: String
    package var at: WallTime
    package var uid: Int

    package init(provider: String, at: WallTime, uid: Int) {
        (self.provider, self.at, self.uid) = (provider, at, uid)
    }

    package static let fields: [WireField] = [
        .required("provider", .text, "The provider's configured name."),
        .required("at", .time, "When."),
        .required("uid", .integer, "The operator's uid."),
    ]
}
