import Testing

@testable import Daemon
@testable import Settings
@testable import Stores

@Suite("Settings of a bucket of Cloud Storage")
struct CloudStorageSettingsTests {
    private static let section = """
        [[store]]
        name = "uploads"
        kind = "google-cloud-storage"
        bucket = "app-uploads"

        """

    @Test("bucket and templates are read")
    func reads() throws {
        let configuration = try Sample.load(
            Self.section + """
                key_credential = "service-account.json"
                prefixes = ["users/{user_id}/"]

                """
        )
        let settings = try #require(configuration.stores.first).settings
        let storage = try #require(settings as? CloudStorageKind)
        #expect(storage.bucket == "app-uploads")
        #expect(storage.templates.map(\.description) == ["users/{user_id}/"])
    }

    @Test(
        "a bucket that is not said clearly stops the start",
        arguments: [
            "key_credential = \"k\"", "prefixes = [\"u/{user_id}/\"]",
            "key_credential = \"k\"\nprefixes = [\"u/\"]",
            "key_credential = \"k\"\nprefixes = [\"u/{user_id}\"]",
        ]
    )
    func refused(text: String) {
        #expect(throws: (any Error).self) { try Sample.load(Self.section + text + "\n") }
    }
}
