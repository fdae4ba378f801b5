import Lifecycle
import Testing

@testable import Daemon
@testable import Providers
@testable import Settings

@Suite("Directories and Google's stores")
struct DirectoryTests {
    private static let apple = """
        [[provider]]
        name = "apple"
        kind = "apple"
        team_id = "ABCDE12345"
        key_id = "KEY1234567"
        client_ids = ["com.example.app"]
        private_key_credential = "apple-key.p8"
        """

    private static func directory(_ more: String) -> String {
        """
        \(apple)
        [[directory]]
        name = "firebase"
        kind = "firebase"
        project = "example-project"
        \(more)
        """
    }

    @Test("a directory knows the providers by their kinds and by what is said")
    func words() throws {
        let configuration = try Sample.load(
            Self.directory(
                """
                key_credential = "sa.json"
                providers = { "oidc.sso" = "apple" }
                """
            )
        )
        let directory = try #require(configuration.directory)
        let name = ProviderName("apple")
        #expect(directory.providers == ["apple.com": name, "oidc.sso": name])
        #expect(
            configuration.requiredCredentials.map(\.usedBy)
                .contains("directory.firebase.key_credential")
        )
    }

    @Test(
        "what contradicts itself is refused",
        arguments: [
            ("", "it must be given unless emulator is set"),
            ("key_credential = \"a\"\nproviders = { \"x.com\" = \"x\" }", "no [[provider]]"),
            ("emulator = true", "it needs a base_url on this machine"),
            (
                "emulator = true\nbase_url = \"https://example.com\"",
                "it needs a base_url on this machine"
            ),
            ("emulator = true\nbase_url = \"http://127.0.0.1:9099\"", "allow_plain_http = true"),
            (
                "emulator = true\nkey_credential = \"a\"\nbase_url = \"https://localhost:1\"",
                "knows no service account"
            ),
        ]
    )
    func refused(keys: String, cause: String) {
        let error = #expect(throws: ConfigurationError.self) {
            try Sample.load(Self.directory(keys))
        }
        #expect(error?.description.contains(cause) == true)
    }

    @Test("accounts are deleted last")
    func last() throws {
        let accounts = """
            [[store]]
            name = "accounts"
            kind = "firebase-auth"
            project = "example-project"
            key_credential = "sa.json"
            """
        let files = """
            [[store]]
            name = "uploads"
            kind = "files"
            root = "/srv/uploads"
            paths = ["{user_id}"]
            """
        _ = try Sample.load(files + "\n" + accounts)
        let error = #expect(throws: ConfigurationError.self) {
            try Sample.load(accounts + "\n" + files)
        }
        #expect(error?.description.contains("accounts are deleted last") == true)
    }
}
