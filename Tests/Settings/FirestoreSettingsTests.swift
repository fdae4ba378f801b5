import Testing

@testable import Daemon
@testable import HTTP
@testable import Providers
@testable import Settings
@testable import Stores

@Suite("Settings of a database of Firestore")
struct FirestoreSettingsTests {
    private static let section = """
        [[store]]
        name = "documents"
        kind = "firestore"
        project = "example-project"

        """

    @Test("project, database and rules are read")
    func reads() throws {
        let configuration = try Sample.load(
            Self.section + """
                key_credential = "service-account.json"
                documents = ["users/{user_id}"]
                groups = ["comments where author_id == {user_id}"]
                subcollections = false

                """
        )
        let settings = try #require(configuration.stores.first).settings
        let firestore = try #require(settings as? FirestoreKind)
        #expect(firestore.database == "(default)" && !firestore.includesSubcollections)
        #expect(firestore.documents.map(\.description) == ["users/{user_id}"])
        #expect(firestore.queries.map(\.isGroup) == [true])
        #expect(firestore.access.keyCredential == "service-account.json")
    }

    @Test(
        "a database that is not said clearly stops the start",
        arguments: [
            "key_credential = \"k\"", "documents = [\"users/{user_id}\"]",
            "key_credential = \"k\"\ndocuments = [\"users/\"]",
            "key_credential = \"k\"\ndocuments = [\"users/{user_id}/\"]",
            "key_credential = \"k\"\ngroups = [\"comments/{user_id}\"]",
            "key_credential = \"k\"\ngroups = [\"{user_id}{user_id}\"]",
        ]
    )
    func refused(text: String) {
        #expect(throws: (any Error).self) { try Sample.load(Self.section + text + "\n") }
    }
}
