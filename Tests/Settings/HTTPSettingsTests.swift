import Lifecycle
import Testing

@testable import Daemon
@testable import Settings
@testable import Stores

@Suite("Settings of stores of HTTP APIs")
struct HTTPSettingsTests {
    private static let erase = """
        [[store.erase]]
        name = "user"
        method = "DELETE"
        path = "/users/{user_id}"

        """
    private static let verify = """
        [[store.verify]]
        name = "user"
        method = "GET"
        path = "/users/{user_id}"
        gone = [404]

        """

    private static func load(_ text: String, head: String = "") throws -> DaemonConfiguration {
        let start = """
            [[store]]
            name = "api"
            kind = "http"

            """
        let base = head.contains("base_url") ? "" : "base_url = \"https://api.example.com\"\n"
        return try Sample.load(start + base + head + text)
    }

    @Test("a preset fills in what the section leaves out, and a plan approves all of it")
    func preset() throws {
        let configuration = try Sample.load(
            """
            [[store]]
            name = "payments"
            kind = "http"
            preset = "stripe"
            key_credential = "stripe-key"

            """
        )
        let settings = try #require(configuration.stores.first?.settings as? HTTPKind)
        #expect(settings.baseURL == "https://api.stripe.com" && settings.auth.scheme == .bearer)
        #expect(settings.erase.map(\.name) == ["customer"] && settings.verify.count == 1)
        let rules = configuration.planRules(of: StoreName("payments")).map(\.key)
        #expect(rules == ["store", "erase customer", "verify customer"])
        let again = try Sample.load(EffectiveConfiguration().text(of: configuration.sections))
        #expect(again.stores == configuration.stores)
    }

    @Test("what the operator writes replaces a group of the preset")
    func replaced() throws {
        let configuration = try Sample.load(
            """
            [[store]]
            name = "payments"
            kind = "http"
            preset = "stripe"
            base_url = "https://stripe.example.com/"
            key_credential = "stripe-key"
            [store.auth]
            scheme = "basic"
            username = "key"

            """ + Self.verify
        )
        let settings = try #require(configuration.stores.first?.settings as? HTTPKind)
        #expect(settings.baseURL == "https://stripe.example.com" && settings.auth.scheme == .basic)
        #expect(settings.verify.map(\.path.description) == ["/users/{user_id}"])
    }

    @Test("every preset is a section without a problem", arguments: HTTPPreset.names)
    func presets(name: String) throws {
        let file = try ProjectFiles.text("Sources/Stores/HTTP/presets.toml")
        let presets = file.split(separator: "\n[[store]]\n")
        let preset = try #require(presets.first { $0.hasPrefix("name = \"\(name)\"\n") })
        let names = preset.matches(of: #/\{([a-z_]+)\}/#).map { String($0.1) }
        let own: Set = ["user_id", "id", "cursor", "page", "request_id"]
        let values = Set(names).subtracting(own).sorted()
        let pairs = values.map { "\($0) = \"v\"" }.joined(separator: ", ")
        let base = preset.contains("base_url") ? "" : "base_url = \"https://a.example\"\n"
        let configuration = try Sample.load(
            """
            [[store]]
            name = "vendor"
            kind = "http"
            preset = "\(name)"
            key_credential = "key"
            values = { \(pairs) }
            \(base)
            """
        )
        let settings = try #require(configuration.stores.first?.settings as? HTTPKind)
        #expect(!settings.erase.isEmpty)
        #expect(!settings.verify.isEmpty || settings.erase.contains { $0.promised != nil })
    }

    @Test(
        "a step that could harm, or proves nothing, stops the start",
        arguments: [
            // Nothing verifies.
            erase,
            // Nothing erases.
            verify,
            // A wrong method or path.
            erase.replacing("DELETE", with: "TRACE") + verify,
            erase.replacing("\"/users", with: "\"users") + verify,
            erase.replacing("/users/", with: "/users/../") + verify,
            erase.replacing("/users/", with: "/%2e%2e/") + verify,
            erase.replacing("/users/", with: "/users?x=") + verify,
            erase.replacing("/users/", with: "//host/") + verify,
            // Not about one user.
            erase.replacing("{user_id}", with: "all") + verify,
            // A POST that does not say what repeating it does.
            erase.replacing("DELETE", with: "POST") + verify,
            erase.replacing("DELETE", with: "POST") + "effect = \"once\"\n" + verify,
            erase + "unless = \"user\"\n" + verify,
            erase + "for_each = \"others\"\n" + verify,
            erase.replacing("{user_id}", with: "{id}") + verify,
            erase.replacing("{user_id}", with: "{account}") + verify,
            erase + "headers = { X-User = \"{user_id}\" }\n" + verify,
            erase + "json = { a = 1 }\nform = { b = \"2\" }\n" + verify,
            erase + "json = { \"{user_id}\" = 1 }\n" + verify,
            erase + "json = { a = 1.5 }\n" + verify,
            erase + "gone_if = { \"/a\" = \"b\" }\n" + verify,
            erase + "gone = [200]\n" + verify,
            erase + "status = [500]\n" + verify,
            erase + "match = { \"a\" = \"b\" }\n" + verify,
            erase + "match = { \"/a\" = \"{user_id}\" }\n" + verify,
            erase + "next = \"/next\"\n" + verify,
            erase + "until = { \"/a\" = \"b\" }\n" + verify,
            erase + erase + verify,
            erase + verify + "effect = \"repeatable\"\n",
            // A step that proves asks for nobody, and verifies nothing.
            erase + verify + "effect = \"proves\"\n",
            erase + "[[store.verify]]\nname = \"app\"\nmethod = \"GET\"\npath = \"/app\"\n"
                + "effect = \"proves\"\n",
            erase + verify + "promised = \"1d\"\n",
            erase + verify
                + "[[store.users]]\nname = \"a\"\nmethod = \"GET\"\npath = \"/users\"\n",
            "[store.auth]\nscheme = \"bearer\"\n" + erase + verify,
        ]
    )
    func refused(text: String) {
        #expect(throws: ConfigurationError.self) { try Self.load(text) }
    }

    @Test("the same steps without the mistake load")
    func accepted() throws {
        let settings = try #require(
            try Self.load(Self.erase + Self.verify).stores.first?.settings as? HTTPKind
        )
        #expect(settings.cutoff.gap != nil && !settings.connection.allowsPrivateAddresses)
        #expect(settings.erase[0].effect == .repeatable && settings.verify[0].effect == .reads)
        #expect(settings.erase[0].status == [200, 201, 202, 204])
    }

    @Test(
        "an address or a secret that does not fit stops the start",
        arguments: [
            ("base_url = \"http://api.example.com\"\n", ""),
            ("base_url = \"http://127.0.0.1:8080\"\n", ""),
            ("base_url = \"https://user@api.example.com\"\n", ""),
            ("key_credential = \"key\"\n", ""),
            ("key_credential = \"key\"\n", "[store.auth]\nscheme = \"basic\"\n"),
            ("key_credential = \"key\"\n", "[store.auth]\nscheme = \"header\"\n"),
            (
                "key_credential = \"key\"\n",
                "[store.auth]\nscheme = \"oauth2\"\nusername = \"a\"\n"
            ),
            (
                "key_credential = \"key\"\n",
                "[store.auth]\nscheme = \"aws-sigv4\"\nusername = \"a\"\nregion = \"b\"\n"
            ),
            (
                "key_credential = \"key\"\n",
                "[store.auth]\nscheme = \"basic\"\nusername = \"{who}\"\n"
            ),
            ("preset = \"unknown\"\n", ""), ("values = { user_id = \"ann\" }\n", ""),
        ]
    )
    func refusedSetup(head: String, auth: String) {
        #expect(throws: ConfigurationError.self) {
            try Self.load(auth + Self.erase + Self.verify, head: head)
        }
    }

    @Test("sections of an API belong to no other kind")
    func otherKind() {
        #expect(throws: ConfigurationError.self) {
            try Sample.load(
                "[[store]]\nname = \"a\"\nkind = \"files\"\nroot = \"/srv\"\n"
                    + "paths = [\"{user_id}\"]\n" + Self.erase
            )
        }
    }
}
