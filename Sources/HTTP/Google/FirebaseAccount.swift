import Encoding
package import Lifecycle

/// One account as Firebase reports it; it holds names of a person.
package struct FirebaseAccount: Sendable, Redacted {
    /// One entry of `providerUserInfo`.
    package struct Link: Sendable, Redacted {
        /// Such as `apple.com`, `password` or `oidc.example`.
        package let providerID: String
        /// The provider's own name for the user.
        package let rawID: Secret?

        package var description: String { providerID }
    }

    /// Personal.
    package let id: String
    package let createdAt: WallTime?
    package let links: [Link]

    /// `nil` for anything but an account.
    init?(_ json: JSONValue) {
        guard let id = json["localId"]?.string else { return nil }
        self.id = id
        createdAt = json["createdAt"]?.string.flatMap { Int64($0) }
            .map { WallTime(unixMilliseconds: $0) }
        var links: [Link] = []
        if let infos = json["providerUserInfo"] {
            guard let list = infos.array else { return nil }
            for info in list {
                guard let providerID = info["providerId"]?.string else { return nil }
                let rawID = info["rawId"]?.string ?? info["federatedId"]?.string
                links.append(Link(providerID: providerID, rawID: rawID.map { Secret($0) }))
            }
        }
        self.links = links
    }
}
