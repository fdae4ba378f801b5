/// How the sandbox plays Firebase and Google Cloud.
package struct CloudConfiguration: Sendable {
    package var project = "example-project"
    package var clientEmail = "expunged@example-project.iam.gserviceaccount.com"
    package var knowsAccountQuery = true
    package var database = "(default)"
    /// Accounts, documents or names of a page at most, whatever is asked for.
    package var pageMax = 300
    /// Collections with an index for queries of any collection of that name; `nil` for all.
    package var indexedGroups: Set<String>?
    package var versionRetentionSeconds: Int64 = 3600
    package var bucket = "example-bucket"
    /// How long the bucket keeps deleted objects; zero for not at all.
    package var softDeletionSeconds: Int64 = 0
    package var mayReadBucket = true
    /// The Realtime Database that is meant where no `ns` says which.
    package var instance = "example-project-default-rtdb"
    /// Values of the Realtime Database that one read or one tiny write may touch.
    package var treeMax = 100
    package var mayUseDatabase = true

    package init() {}
}

/// An account of Firebase Authentication.
package struct CloudAccount: Equatable, Sendable {
    /// One entry of `providerUserInfo`.
    package struct Link: Equatable, Sendable {
        package var providerID: String
        package var rawID: String

        package init(_ providerID: String, rawID: String) {
            (self.providerID, self.rawID) = (providerID, rawID)
        }
    }

    package var localID: String
    package var links: [Link]
    package var createdAtMilliseconds: Int64
    /// Sessions that began before are over.
    package var validSinceSeconds: Int64 = 0

    package init(_ localID: String, links: [Link] = [], createdAtMilliseconds: Int64 = 0) {
        (self.localID, self.links) = (localID, links)
        self.createdAtMilliseconds = createdAtMilliseconds
    }
}

/// One document of Firestore.
package struct CloudDocument: Equatable, Sendable {
    /// Collection and document in turn, with slashes between.
    package var path: String
    package var fields: [String: String]
    package var createdAtMilliseconds: Int64
    /// Part of the time of the last write.
    package var writeCount: Int64 = 0

    package init(_ path: String, fields: [String: String] = [:], createdAtMilliseconds: Int64 = 0) {
        (self.path, self.fields, self.createdAtMilliseconds) = (path, fields, createdAtMilliseconds)
    }
}

/// One generation of an object of Cloud Storage.
package struct CloudObject: Equatable, Sendable {
    package var name: String
    package var generation: Int64
    package var createdAtMilliseconds: Int64
    /// Whether it is the one that a reader gets.
    package var isLive = true
    package var isHeld = false
    package var retainedUntilMilliseconds: Int64?
    package var hardDeleteMilliseconds: Int64?

    package init(_ name: String, generation: Int64 = 1, createdAtMilliseconds: Int64 = 0) {
        (self.name, self.generation) = (name, generation)
        self.createdAtMilliseconds = createdAtMilliseconds
    }
}
