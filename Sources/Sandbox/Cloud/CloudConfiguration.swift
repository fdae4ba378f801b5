/// How the sandbox plays Firebase and Google Cloud.
package struct CloudConfiguration: Sendable {
    /// The one project.
    package var project = "example-project"
    /// The service account that the project knows.
    package var clientEmail = "expunged@example-project.iam.gserviceaccount.com"
    /// Whether the token `owner` works, as with Firebase's emulators.
    package var acceptsOwner = true

    /// Makes the configuration of a project without accounts.
    package init() {}
}

/// One account of Firebase Authentication.
package struct CloudAccount: Equatable, Sendable {
    /// One entry of `providerUserInfo`.
    package struct Link: Equatable, Sendable {
        package var providerID: String
        package var rawID: String

        package init(_ providerID: String, rawID: String) {
            self.providerID = providerID
            self.rawID = rawID
        }
    }

    package var localID: String
    package var links: [Link]
    package var createdAtMilliseconds: Int64
    /// Sessions that began before are over.
    package var validSinceSeconds: Int64 = 0

    package init(_ localID: String, links: [Link] = [], createdAtMilliseconds: Int64 = 0) {
        self.localID = localID
        self.links = links
        self.createdAtMilliseconds = createdAtMilliseconds
    }
}
