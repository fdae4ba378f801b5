import HTTP
import Lifecycle

/// A bucket and where a user's objects are in it.
struct S3StorePlan: Sendable {
    let name: StoreName
    let bucket: String
    /// `https://HOST[:PORT]`, without the bucket.
    let endpoint: String
    /// Whether the bucket is the first name of the path, not of the host.
    let isPathStyle: Bool
    let signer: AWSSigner
    /// Not empty.
    let templates: [KeyTemplate]
    var remote: RemoteSettings
    /// Entries of a listing, and of one DeleteObjects; the service allows no more.
    var pageSize = 1000
}
