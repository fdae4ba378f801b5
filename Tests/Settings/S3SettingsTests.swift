import Testing

@testable import Daemon
@testable import Settings
@testable import Stores

@Suite("Settings of a bucket of S3")
struct S3SettingsTests {
    private static let section = """
        [[store]]
        name = "uploads"
        kind = "s3"
        bucket = "app-uploads"
        region = "eu-central-1"
        access_key_id = "AKIAIOSFODNN7EXAMPLE"
        secret_key_credential = "s3-key"

        """

    @Test("bucket, keys and templates are read")
    func reads() throws {
        let configuration = try Sample.load(
            Self.section + """
                endpoint = "https://s3.example.com"
                session_token_credential = "s3-token"
                prefixes = ["users/{user_id}/"]

                """
        )
        let settings = try #require(configuration.stores.first).settings
        let s3 = try #require(settings as? S3Kind)
        #expect(s3.urlStyle == .virtualHost)
        #expect(s3.templates.map(\.description) == ["users/{user_id}/"])
        let credentials = configuration.requiredCredentials.map(\.name)
        #expect(credentials == ["vault-key", "s3-key", "s3-token"])
    }

    @Test(
        "a bucket that is not said clearly stops the start",
        arguments: [
            "endpoint = \"https://s3.example.com\"",
            "endpoint = \"http://s3.example.com\"\nprefixes = [\"u/{user_id}/\"]",
            "endpoint = \"https://s3.example.com/x\"\nprefixes = [\"u/{user_id}/\"]",
            "endpoint = \"https://s3.example.com\"\nprefixes = [\"u/\"]",
            "endpoint = \"https://s3.example.com\"\nprefixes = [\"u/{user_id}\"]",
            "endpoint = \"https://s3.example.com\"\nobjects = [\"{user_id}{user_id}\"]",
            "prefixes = [\"u/{user_id}/\"]",
        ]
    )
    func refused(text: String) {
        #expect(throws: (any Error).self) { try Sample.load(Self.section + text + "\n") }
    }
}
