package import Lifecycle

/// A database of Firestore and where a user's documents are in it.
package struct FirestoreTargetPlan: Sendable {
    package let name: TargetName
    /// `nil` means Google's own host.
    package let baseURL: String?
    package let project: String
    package let database: String
    /// Documents that go with everything below them.
    package let documents: [UserPath]
    /// With the paths not empty.
    package let queries: [FieldQuery]
    /// Whether what is below a document that a query finds goes along.
    package let includesSubcollections: Bool
    /// Documents of a page; the listing's own limit (firestore.proto, `ListDocumentsRequest`).
    var pageSize = 300
    /// Documents of one write; as Google's own bulk writer (nodejs-firestore, `bulk-writer.ts`).
    var batchSize = 20

    package init(
        name: TargetName,
        baseURL: String?,
        project: String,
        database: String,
        documents: [UserPath],
        queries: [FieldQuery],
        includesSubcollections: Bool
    ) {
        self.name = name
        self.baseURL = baseURL
        self.project = project
        self.database = database
        self.documents = documents
        self.queries = queries
        self.includesSubcollections = includesSubcollections
    }

    /// Bytes of a page: 300 names of up to 6 KiB, escaped at worst.
    package static let answerMax = 8 << 20
    /// What a token must be good for (firestore.proto, `google.api.oauth_scopes`).
    package static let scope = "https://www.googleapis.com/auth/datastore"
}
