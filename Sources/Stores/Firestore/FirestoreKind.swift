import Engine
package import HTTP
import Lifecycle
package import Settings

/// A database of Firestore.
package struct FirestoreKind: DrillCopying {
    package static let name = "firestore"
    package static let traits = StoreTraits(
        isDatedByRestoration: true,
        residualPhrases: [.earlierVersions]
    )

    package static let settings: [Setting] = place + GoogleAccess.settings(.store)

    private static let place = Setting.keys(
        .store,
        (
            "project", .text(.cloudName), .required(example: .text("example-project")),
            "Project of the database."
        ),
        (
            "database", .text(.cloudName), .defaultsTo(.text("(default)")),
            "Database, in native mode."
        ),
        (
            "documents", .texts(.userObject, 0...64), .defaultsTo(.texts([])),
            """
            Paths of a user's documents, such as users/{user_id}; each is deleted with \
            everything below it.
            """
        ),
        (
            "collections", .texts(.userObject, 0...64), .defaultsTo(.texts([])),
            """
            Documents with the user id as a text in a field, such as posts where author_id == \
            {user_id}.
            """
        ),
        (
            "groups", .texts(.userObject, 0...64), .defaultsTo(.texts([])),
            "The same in any collection of that name."
        ),
        (
            "subcollections", .boolean, .defaultsTo(.boolean(true)),
            """
            Whether to delete everything below a document that collections or groups find, \
            whoever wrote it.
            """
        )
    )

    package let project: String
    package private(set) var database: String
    /// Documents that go with everything below them.
    let documents: [UserPath]
    /// With the documents not empty.
    let queries: [FieldQuery]
    package let includesSubcollections: Bool
    package let access: GoogleAccess

    package init(_ section: inout SettingsSection, _ problems: inout SectionProblems) {
        problems.refuseTables("Firestore has no tables; give documents or groups")
        project = section.requiredText("project")
        database = section.requiredText("database")
        let (paths, collections) = (section.texts("documents"), section.texts("collections"))
        let groups = section.texts("groups")
        documents = problems.read(paths, "documents") { path throws(MalformedTemplate) in
            try UserPath(path, in: .firestore)
        }
        queries =
            problems.read(collections, "collections") { text throws(MalformedTemplate) in
                try FieldQuery(text, isGroup: false)
            }
            + problems.read(groups, "groups") { text throws(MalformedTemplate) in
                try FieldQuery(text, isGroup: true)
            }
        includesSubcollections = section.flag("subcollections")
        access = GoogleAccess(section, &problems)
        if paths.isEmpty && collections.isEmpty && groups.isEmpty {
            problems.report(
                .missingKey,
                "documents",
                "a database needs documents, collections or groups, such as"
                    + " documents = [\"users/{user_id}\"]"
            )
        }
    }

    package var cutoff: StoreCutoff { .everything }

    package func open(_ environment: StoreEnvironment) async throws -> FirestoreStore {
        try await access.open(environment) { session in
            FirestoreStore(
                name: environment.name,
                documents: documents,
                queries: queries,
                includesSubcollections: includesSubcollections,
                session: session,
                database: try FirestoreDatabase(database, of: project, at: access.baseURL, session)
            )
        }
    }

    package func copy(at place: String) throws(NoStoreCopy) -> Self {
        var copy = self
        copy.database = try TextRule.cloudName.check(place)
        return copy
    }

    package func overlaps(_ other: any StoreKind, _ environment: StoreEnvironment) -> Bool {
        guard let other = other as? Self else { return false }
        return project == other.project && database == other.database
    }
}

extension ResidualPhrase {
    static let earlierVersions = ResidualPhrase(
        "earlier_versions",
        "earlier versions of documents in database '%'"
    )
}
