import Lifecycle

/// A database of Firestore and where a user's documents are in it.
struct FirestoreTargetPlan: Sendable {
    let name: TargetName
    /// `nil` means Google's own host.
    let baseURL: String?
    let project: String
    let database: String
    /// Documents that go with everything below them.
    let documents: [UserPath]
    /// With the paths not empty.
    let queries: [FieldQuery]
    /// Whether what is below a document that a query finds goes along.
    let includesSubcollections: Bool
    /// Documents of a page; the listing's own limit (firestore.proto, `ListDocumentsRequest`).
    var pageSize = 300
    /// Documents of one write; as Google's own bulk writer (nodejs-firestore, `bulk-writer.ts`).
    var batchSize = 20
}
