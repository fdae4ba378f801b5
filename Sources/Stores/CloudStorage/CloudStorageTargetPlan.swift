package import Lifecycle

/// A bucket of Cloud Storage and where a user's objects are in it.
package struct CloudStorageTargetPlan: Sendable {
    package let name: TargetName
    /// `nil` means Google's own host.
    package let baseURL: String?
    package let bucket: String
    /// Not empty.
    package let templates: [KeyTemplate]
    /// Entries of a listing; the service allows no more.
    var pageSize = 1000

    package init(
        name: TargetName,
        baseURL: String?,
        bucket: String,
        templates: [KeyTemplate]
    ) {
        self.name = name
        self.baseURL = baseURL
        self.bucket = bucket
        self.templates = templates
    }

    /// Bytes of a page: 1,000 names of up to 1,024 bytes, some of them escaped.
    package static let answerMax = 8 << 20
    /// What a token must be good for (cloud.google.com/storage/docs/oauth-scopes).
    package static let scope = "https://www.googleapis.com/auth/devstorage.read_write"
}
