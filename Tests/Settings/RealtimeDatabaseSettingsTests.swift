import Testing

@testable import Daemon
@testable import Settings
@testable import Stores

@Suite("Settings of a Realtime Database")
struct RealtimeDatabaseSettingsTests {
    private static let section = """
        [[store]]
        name = "tree"
        kind = "realtime-database"
        key_credential = "service-account.json"

        """

    @Test("URL, paths and the time are read")
    func reads() throws {
        let configuration = try Sample.load(
            Self.section + """
                url = "https://example.firebaseio.com"
                paths = ["users/{user_id}"]
                created_at_child = "created"

                """
        )
        let settings = try #require(configuration.stores.first).settings
        let database = try #require(settings as? RealtimeDatabaseKind)
        #expect(database.url == "https://example.firebaseio.com")
        #expect(database.paths.map(\.description) == ["users/{user_id}"])
        #expect(database.createdAtChild == "created")
    }

    @Test(
        "a database that is not said clearly stops the start",
        arguments: [
            "url = \"https://example.firebaseio.com\"", "paths = [\"users/{user_id}\"]",
            "url = \"https://example.firebaseio.com/x\"\npaths = [\"users/{user_id}\"]",
            "url = \"https://example.firebaseio.com\"\npaths = [\"users\"]",
            "url = \"https://example.firebaseio.com\"\npaths = [\"users/{user_id}/\"]",
        ]
    )
    func refused(text: String) {
        #expect(throws: (any Error).self) { try Sample.load(Self.section + text + "\n") }
    }
}
