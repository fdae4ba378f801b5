import Lifecycle
import Providers
import Settings
import Testing

@testable import Daemon
@testable import Stores

/// The parameters of Firebase's extension delete-user-data become a configuration.
struct ExtensionConversionTests {
    /// What is made of a text, as the service reads it.
    private func converted(
        _ text: String,
        project: String? = "demo"
    ) throws -> (text: String, configuration: DaemonConfiguration) {
        let parameters = try ExtensionParameters(text, file: "x.env")
        let made = try ExtensionConversion(parameters, file: "x.env", project: project)
            .configuration
        #expect(made.split(separator: "\n").allSatisfy { $0.count <= 100 || $0.contains("[") })
        return (
            made.replacing("\n#   ", with: " "),
            try DaemonConfiguration.parse(Array(made.utf8), file: "t.toml")
        )
    }

    private func store<Kind: StoreKind>(
        _ name: String,
        in configuration: DaemonConfiguration,
        as kind: Kind.Type = Kind.self
    ) throws -> Kind {
        let target = configuration.targets.first { $0.name.rawValue == name }
        return try #require(target?.store as? Kind)
    }

    /// As `firebase ext:install` writes it for all three stores.
    private static let whole = """
        ALLOWED_EVENT_TYPES=firebase.extensions.delete-user-data.v1.firestore
        CLOUD_STORAGE_BUCKET=demo.appspot.com
        ENABLE_AUTO_DISCOVERY=yes
        AUTO_DISCOVERY_SEARCH_DEPTH=3
        AUTO_DISCOVERY_SEARCH_FIELDS=id,uid
        EVENTARC_CHANNEL=projects/demo/locations/us-central1/channels/firebase
        FIRESTORE_DELETE_MODE=recursive
        FIRESTORE_PATHS=users/{UID},admins/{UID}, orgs/main/members/{UID}
        LOCATION=europe-west3
        RTDB_PATHS=users/{UID},presence/p-{UID}
        SELECTED_DATABASE_INSTANCE=demo-default-rtdb
        SELECTED_DATABASE_LOCATION=europe-west1
        STORAGE_PATHS={DEFAULT}/{UID}-pic.png,logs/{UID}-logs.txt,{DEFAULT}/media/{UID}
        firebaseextensions.v1beta.function/location=europe-west3
        """

    @Test func `each store of the extension becomes a target, and the account goes last`() throws {
        let (text, configuration) = try converted(Self.whole, project: nil)
        let names = configuration.targets.map(\.name.rawValue)
        #expect(names == ["documents", "tree", "uploads", "uploads-2", "accounts"])
        let documents: FirestoreStore = try store("documents", in: configuration)
        #expect(documents.project == "demo")
        let wanted = ["users/{user_id}", "admins/{user_id}", "orgs/main/members/{user_id}"]
        #expect(documents.documents == wanted)
        let tree: RealtimeDatabaseStore = try store("tree", in: configuration)
        #expect(tree.url == "https://demo-default-rtdb.europe-west1.firebasedatabase.app")
        #expect(tree.paths == ["users/{user_id}", "presence/p-{user_id}"])
        let uploads: CloudStorageStore = try store("uploads", in: configuration)
        #expect(uploads.bucket == "demo.appspot.com")
        #expect(uploads.prefixes == ["{user_id}-pic.png", "media/{user_id}/"])
        #expect(uploads.objects == ["media/{user_id}"])
        let logs: CloudStorageStore = try store("uploads-2", in: configuration)
        #expect(logs.bucket == "logs" && logs.prefixes == ["{user_id}-logs.txt"])
        #expect(configuration.directory?.name.rawValue == "firebase")
        for note in [
            "# NOT CONVERTED: ENABLE_AUTO_DISCOVERY", "# NOT CONVERTED: events",
            "# collections = [\"COLLECTION where uid == {user_id}\"]",
            "# DIFFERENT: STORAGE_PATHS '{DEFAULT}/media/{UID}'",
        ] { #expect(text.contains(note), "\(note)") }
        #expect(!text.contains("shallow") && !text.contains("europe-west3"))
    }

    /// Paths that the stores themselves accept, not only the reader of the file.
    @Test func `every path is one that its store takes`() throws {
        let (_, configuration) = try converted(Self.whole)
        let documents: FirestoreStore = try store("documents", in: configuration)
        for path in documents.documents { _ = try UserPath(path, in: .firestore) }
        let tree: RealtimeDatabaseStore = try store("tree", in: configuration)
        for path in tree.paths { _ = try UserPath(path, in: .realtimeDatabase) }
        for name in ["uploads", "uploads-2"] {
            let bucket: CloudStorageStore = try store(name, in: configuration)
            #expect(try bucket.templates().isEmpty == false)
        }
    }

    struct Lost: Sendable, CustomTestStringConvertible {
        let line: String
        let note: String
        var testDescription: String { line }
    }

    @Test(arguments: [
        Lost(line: "FIRESTORE_PATHS=users/{UID}/posts", note: "It is a collection."),
        Lost(line: "FIRESTORE_PATHS=settings/all", note: "It has no {UID}"),
        Lost(line: "FIRESTORE_PATHS=users/{UID}/posts/{UID}", note: "more than once"),
        Lost(line: "FIRESTORE_PATHS=users/..", note: "It has no {UID}"),
        Lost(line: "FIRESTORE_PATHS=../{UID}", note: "accepts no such path"),
        Lost(line: "RTDB_PATHS=presence", note: "It has no {UID}"),
        Lost(line: "RTDB_PATHS=users/a.b/{UID}", note: "accepts no such path"),
        Lost(line: "STORAGE_PATHS={DEFAULT}", note: "It names no object"),
        Lost(line: "STORAGE_PATHS={DEFAULT}/all/", note: "It has no {UID}"),
        Lost(line: "STORAGE_PATHS={UID}/files", note: "It names no object of one bucket"),
        Lost(line: "SEARCH_FUNCTION=https://x.example/f", note: "kind webhook or command"),
        Lost(line: "ENABLE_AUTO_DISCOVERY=true", note: "expunged guesses no collections"),
        Lost(line: "FIRESTORE_PATHS=\nNEW_THING=1", note: "NEW_THING, which is not known"),
    ])
    func `what cannot be said is a comment`(lost: Lost) throws {
        let (text, configuration) = try converted("LOCATION=us-central1\n" + lost.line)
        let lines = text.split(separator: "\n")
        #expect(
            lines.contains { $0.hasPrefix("# NOT CONVERTED: ") && $0.contains(lost.note) },
            "\(text)"
        )
        #expect(configuration.targets.map(\.name.rawValue) == ["accounts"])
    }

    @Test func `a shallow deletion, a default database and a default bucket are marked`() throws {
        let (text, configuration) = try converted(
            """
            # A comment, and quotes.
            FIRESTORE_PATHS="users/{UID}"
            FIRESTORE_DELETE_MODE='shallow'
            FIRESTORE_DATABASE_ID=second
            RTDB_PATHS=/users/{UID}/
            STORAGE_PATHS={DEFAULT}/a/{UID}x
            """
        )
        let documents: FirestoreStore = try store("documents", in: configuration)
        #expect(documents.documents == ["users/{user_id}"] && documents.database == "second")
        let tree: RealtimeDatabaseStore = try store("tree", in: configuration)
        #expect(tree.url == "https://demo-default-rtdb.firebaseio.com")
        #expect(tree.paths == ["users/{user_id}"])
        let uploads: CloudStorageStore = try store("uploads", in: configuration)
        #expect(uploads.bucket == "demo.appspot.com")
        #expect(uploads.objects == ["a/{user_id}x"] && uploads.prefixes.isEmpty)
        for note in [
            "# DIFFERENT: FIRESTORE_DELETE_MODE=shallow", "# CHECK: no SELECTED_DATABASE_INSTANCE",
            "# CHECK: no CLOUD_STORAGE_BUCKET", "# DIFFERENT: STORAGE_PATHS '{DEFAULT}/a/{UID}x'",
        ] { #expect(text.contains(note), "\(note)") }
    }

    @Test func `more paths than a target takes are named`() throws {
        let paths = (0..<66).map { "c\($0)/{UID}" }.joined(separator: ",")
        let (text, configuration) = try converted("FIRESTORE_PATHS=\(paths)")
        let documents: FirestoreStore = try store("documents", in: configuration)
        #expect(documents.documents.count == 64)
        #expect(text.contains("# NOT CONVERTED: c65/{user_id}. documents has at most 64."))
    }

    @Test func `the bucket may name the project, and control characters stay out`() throws {
        let (text, configuration) = try converted(
            "STORAGE_PATHS={DEFAULT}/{UID}/\nCLOUD_STORAGE_BUCKET=${param:PROJECT_ID}.appspot.com"
                + "\nBAD\u{1b}[31m=1"
        )
        let uploads: CloudStorageStore = try store("uploads", in: configuration)
        #expect(uploads.bucket == "demo.appspot.com" && uploads.prefixes == ["{user_id}/"])
        #expect(!text.contains("\u{1b}"))
    }

    @Test func `a file of something else and a missing project are refused with the remedy`() {
        #expect {
            try converted("HELLO=1")
        } throws: { error in
            "\(error)".contains("no parameter of delete-user-data")
        }
        #expect {
            try converted("FIRESTORE_PATHS=a/{UID}", project: nil)
        } throws: { error in
            "\(error)".contains("--project ID")
        }
    }

    @Test func `a byte order mark is none of the first name`() throws {
        let (_, configuration) = try converted(
            "\u{feff}PROJECT_ID=other\nFIRESTORE_PATHS=a/{UID}",
            project: nil
        )
        let documents: FirestoreStore = try store("documents", in: configuration)
        #expect(documents.project == "other")
    }

    @Test(arguments: ["HELLO=1", "FIRESTORE_PATHS=a/{UID}"])
    func `the name of a file cannot steer the terminal`(text: String) throws {
        let file = "a\n\u{1b}[31m.env"
        let error = #expect(throws: DaemonError.self) {
            let parameters = try ExtensionParameters(text, file: file)
            _ = try ExtensionConversion(parameters, file: file, project: nil)
        }
        let start = "cannot convert 'a\\u{a}\\u{1b}[31m.env': "
        #expect(error?.problems.first?.hasPrefix(start) == true)
    }
}
