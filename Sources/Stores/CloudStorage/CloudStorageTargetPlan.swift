import Lifecycle

/// A bucket of Cloud Storage and where a user's objects are in it.
struct CloudStorageTargetPlan: Sendable {
    let name: TargetName
    /// `nil` means Google's own host.
    let baseURL: String?
    let bucket: String
    /// Not empty.
    let templates: [KeyTemplate]
    /// Entries of a listing; the service allows no more.
    var pageSize = 1000
}
