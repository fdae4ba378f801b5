import FoundationEssentials
import Glibc
import Lifecycle
import Testing

@testable import Daemon
@testable import Providers
@testable import Settings
@testable import Stores

@Suite("A good configuration loads")
struct LoadingTests {
    @Test("the Apple and SQLite example loads clean")
    func example() throws {
        let bytes = try ProjectFiles.bytes("Config/examples/apple-sqlite.toml")
        let configuration = try DaemonConfiguration.parse(bytes, file: "apple-sqlite.toml")
        #expect(configuration.cautions.isEmpty)
        #expect(configuration.requests.gracePeriod == .seconds(86_400))
        let provider = try #require(configuration.providers.first)
        #expect(provider.name == ProviderName("apple"))
        #expect(provider.clientIDs == ["com.example.app", "com.example.web"])
        #expect(
            provider.kind as? AppleKind
                == AppleKind(
                    teamID: "ABCDE12345",
                    keyID: "KEY1234567",
                    privateKeyCredential: "apple-key.p8",
                    baseURL: "https://appleid.apple.com"
                )
        )
        let sqlite = try #require(configuration.stores.first?.settings as? SQLiteKind)
        #expect(sqlite.path == "/srv/app/app.db")
        let tables = sqlite.claims.rules
        #expect(tables.map(\.table) == ["posts", "invoices", "fraud_reports", "users"])
        #expect(tables[0].creation == CreationColumn(column: "created", unit: .unixSeconds))
        let masks = [
            ColumnMask(column: "email", strategy: .hash),
            ColumnMask(column: "name", strategy: .text("deleted user")),
            ColumnMask(column: "phone", strategy: .null),
        ]
        #expect(tables[1].action == .anonymize(masks))
        #expect(tables[1].reason == "tax law, 10 years")
        #expect(tables[2].action == .keep && tables[2].reason == "pending legal claims")
        #expect(tables[2].idType == .integer)
    }

    @Test("an empty file gives the defaults and warns that nothing is erased")
    func empty() throws {
        let configuration = try Sample.load("")
        #expect(configuration.requests.gracePeriod == .zero)
        #expect(configuration.requests.deadline == .seconds(30 * 86_400))
        #expect(configuration.requests.maxDeletionsPerHour == 1000)
        #expect(configuration.requests.withoutIdentities == .proceed)
        #expect(configuration.vault.keyCredential == "vault-key")
        #expect(configuration.journal.level == .info)
        #expect(configuration.cautions.count == 2)
    }

    @Test("a provider has the documented defaults")
    func providerDefaults() throws {
        let provider = try #require(try Sample.load(Sample.provider).providers.first)
        #expect(provider.onUnrevocable == .proceed)
        #expect(provider.revocationDeadline == .seconds(7 * 86_400))
        #expect(provider.concurrency == 64)
        #expect(provider.ratePerSecond == nil)
        #expect(provider.connection.timeoutConnect == .seconds(5))
        #expect(provider.connection.timeoutTotal == .seconds(30))
        #expect(provider.connection.caFile == nil)
    }

    @Test(
        "timeout_total alone bounds connecting, too",
        arguments: [("2s", Duration.seconds(2)), ("5s", .seconds(5)), ("60s", .seconds(5))]
    )
    func timeouts(total: String, connect: Duration) throws {
        let text = Sample.provider + "timeout_total = \"\(total)\"\n"
        let provider = try #require(try Sample.load(text).providers.first)
        #expect(provider.connection.timeoutConnect == connect)
    }

    @Test("plain http on this machine loads when it is allowed, with a warning")
    func plainHTTP() throws {
        let configuration = try Sample.load(
            Sample.provider + "allow_plain_http = true\nbase_url = \"http://127.0.0.1:8443/\"\n"
        )
        let apple = try #require(configuration.providers.first?.kind as? AppleKind)
        #expect(apple.baseURL == "http://127.0.0.1:8443")
        #expect(configuration.cautions.contains { $0.contains("unencrypted") })
    }

    private static let sso =
        "[[provider]]\nname = \"sso\"\nkind = \"oauth2\"\nclient_ids = [\"a\", \"b\"]\n"

    @Test("client secrets are given by client id, and each names a credential")
    func secretsByClient() throws {
        let text =
            Self.sso + "preset = \"discord\"\n"
            + "client_secret_credentials = { \"a\" = \"cred-a\", b = \"cred-b\" }\n"
        let configuration = try Sample.load(text)
        let oauth2 = try #require(configuration.providers.first?.kind as? OAuth2Kind)
        #expect(oauth2.preset == "discord")
        #expect(oauth2.secrets.credential(for: "b") == "cred-b")
        #expect(!oauth2.profile.revokesWholeGrant)
        #expect(configuration.requiredCredentials.map(\.name).contains("cred-a"))
        let again = try Sample.load(EffectiveConfiguration().text(of: configuration.sections))
        #expect(again == configuration)
    }

    @Test(
        "a provider of the family oauth2 is refused for what does not go together",
        arguments: [
            ("", "give preset, or issuer"), ("preset = \"okta\"", "issuer of your own"),
            ("preset = \"discort\"", "unknown_value"),
            ("issuer = \"https://a\"\nclient_secret_credential = \"x\"", "several client_ids"),
            (
                "issuer = \"https://a\"\nclient_secret_credentials = { c = \"x\" }",
                "not one of client_ids"
            ),
            (
                "issuer = \"https://a\"\nclient_secret_credentials = { a = \"x y\" }", "malformed"
            ),
            (
                "issuer = \"https://a\"\nclient_authentication = \"private_key_jwt\"",
                "needs it"
            ),
            (
                "issuer = \"https://a\"\nclient_authentication = \"client_secret_post\"",
                "client 'a' has no secret"
            ),
            ("issuer = \"https://a\"\nprivate_key_credential = \"k\"", "private_key_jwt"),
            ("issuer = \"https://a\"\nendpoint_hosts = [\"https://b\"]", "HOST[:PORT]"),
            ("issuer = \"http://a\"", "tokens go over https only"),
        ]
    )
    func oauth2(lines: String, expected: String) {
        let message = Sample.message(Self.sso + lines)
        #expect(message.contains(expected), "\(message)")
    }

    @Test("a constant is a text or a whole number, and triggers can be switched off")
    func constants() throws {
        let text = Sample.store
            .replacing("path =", with: "triggers = \"off\"\npath =")
            .replacing("\"delete\"", with: "\"anonymize\"\nkeep_reason = \"tax\"")
        let columns = """
            set = { a = { strategy = "constant", value = -7 }, \
            b = { strategy = "constant", value = "" } }
            """
        let settings = try Sample.load(text + columns).stores.first?.settings
        let sqlite = try #require(settings as? SQLiteKind)
        #expect(sqlite.triggers == .off)
        let masks = [
            ColumnMask(column: "a", strategy: .integer(-7)),
            ColumnMask(column: "b", strategy: .text("")),
        ]
        #expect(sqlite.claims.rules.first?.action == .anonymize(masks))
        #expect(sqlite.claims.rules.first?.reason == "tax")
    }

    @Test("every way that TOML offers to write the same thing loads the same")
    func spellings() throws {
        let plain = try Sample.load(Sample.store)
        let inline = """
            store = [{ name = "app-db", "kind" = 'sqlite', path = \"""/srv/app.db\""", table = [
              { table = "posts", column = "author_id", action = "delete" }, # one
            ] }]
            """
        #expect(try Sample.load(inline) == plain)
        #expect(try Sample.load("\u{feff}" + Sample.store.replacing("\n", with: "\r\n")) == plain)
    }

    @Test("the effective configuration loads to an equal configuration")
    func effective() throws {
        let bytes = try ProjectFiles.bytes("Config/examples/apple-sqlite.toml")
        let texts = [
            String(decoding: bytes, as: UTF8.self), "",
            Sample.store.replacing(
                "\"delete\"",
                with: "\"anonymize\"\nkeep_reason = \"a \\\"b\\\"\""
            )
                + "[store.table.set.\"odd \\\"name.x\"]\nstrategy = \"truncate\"\nlength = 3\n",
        ]
        for text in texts {
            let configuration = try Sample.load(text)
            let rendered = EffectiveConfiguration().text(of: configuration.sections)
            #expect(try Sample.load(rendered) == configuration, "\(rendered)")
            #expect(rendered.contains("deadline = \"30d\""))
        }
    }
}

@Suite("Loading again")
struct LoadingAgainTests {
    /// The resident memory of this process in KiB (proc(5)).
    private static func residentKibibytes() throws -> Int {
        let status = try Data(contentsOf: URL(filePath: "/proc/self/status"))
        let line = String(decoding: status, as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix("VmRSS:") }
        return try #require(line?.split(separator: " ").dropFirst().first.flatMap { Int($0) })
    }

    @Test("a thousand reloads of a text that did not change take no memory")
    func unchanged() throws {
        let path = FileManager.default.temporaryDirectory
            .appending(path: "expunged-\(UUID().uuidString).toml")
        try Data((Sample.provider + Sample.store).utf8).write(to: path)
        defer { _ = unsafe unlink(path.path(percentEncoded: false)) }
        #expect(unsafe chmod(path.path(percentEncoded: false), 0o600) == 0)
        let name = path.path(percentEncoded: false)
        let first = try DaemonConfiguration.load(path: name)
        let before = try Self.residentKibibytes()
        for _ in 0..<1000 { #expect(try DaemonConfiguration.load(path: name) == first) }
        #expect(try Self.residentKibibytes() - before < 4096)
        try Data(Sample.provider.utf8).write(to: path)
        #expect(try DaemonConfiguration.load(path: name) != first)
    }
}

@Suite("A reload tells what it cannot apply")
struct ReloadTests {
    private static let base = Sample.provider + Sample.store

    @Test("a change of what is read at run time blocks nothing")
    func harmless() throws {
        let new =
            "[requests]\ngrace_period = \"1d\"\n"
            + Self.base.replacing("author_id", with: "writer") + "id_type = \"integer\"\n"
        #expect(try ReloadBlockers.find(from: Sample.load(Self.base), to: Sample.load(new)).isEmpty)
    }

    @Test(
        "a change of what is read at start is named",
        arguments: [
            ("ABCDE12345", "ABCDE99999", nil),
            ("/srv/app.db", "/srv/b.db", nil),
            ("apple-key.p8", "other.p8", "provider.apple.private_key_credential"),
            ("name = \"apple\"", "name = \"apple2\"", nil),
            (
                "[[provider]]", "[server]\nconnections_max = 9\n[[provider]]",
                "server.connections_max"
            ),
        ] as [(String, String, String?)]
    )
    func blocked(old: String, new: String, key: String?) throws {
        let changed = try Sample.load(Self.base.replacing(old, with: new))
        let blockers = ReloadBlockers.find(from: try Sample.load(Self.base), to: changed)
        #expect(blockers.map(\.key) == [key].compactMap { $0 })
    }

    @Test("only sockets, keys of the state, queues and pollers wait for a restart")
    func readAtStart() {
        let keys = Kinds.table.all.filter { $0.takesEffect == .restart }.map(\.key)
        #expect(
            Set(keys.filter { !$0.hasPrefix("queue.") }) == [
                "state.kind", "state.conninfo_credential", "state.tls", "state.ca_file",
                "state.host", "requests.sample_interval",
                "vault.key_credential",
                "vault.retired_key_credentials", "vault.lost_key_ids", "server.connections_max",
                "server.operator_group", "server.submit_group", "server.viewer_group",
                "provider.notification_poll_url", "provider.notification_poll_token_credential",
                "provider.notification_poll_interval",
            ]
        )
    }

    @Test(
        "every key that changed is named, a section that came or went as a whole",
        arguments: [
            ("", "", []),
            ("author_id", "writer", ["store.app-db.table[posts].column"]),
            ("ABCDE12345", "ABCDE99999", ["provider.apple.team_id"]),
            ("name = \"apple\"", "name = \"b\"", ["provider.b", "provider.apple"]),
            ("[[provider]]", "[requests]\ndeadline = \"9d\"\n[[provider]]", ["requests.deadline"]),
        ] as [(String, String, [String])]
    )
    func changed(old: String, new: String, keys: [String]) throws {
        let text = old.isEmpty ? Self.base : Self.base.replacing(old, with: new)
        let changes = try ConfigurationChanges.find(
            from: Sample.load(Self.base),
            to: Sample.load(text)
        )
        #expect(changes == keys)
    }

    @Test("a table is named by itself, wherever it is in the file")
    func tables() throws {
        let head = "[[store]]\nname = \"app-db\"\nkind = \"sqlite\"\npath = \"/srv/app.db\"\n"
        let rule = { (table: String, column: String, more: String) in
            "[[store.table]]\ntable = \"\(table)\"\ncolumn = \"\(column)\"\n\(more)"
        }
        let delete = "action = \"delete\"\n"
        let keep = "action = \"keep\"\nkeep_reason = \"law\"\n"
        let posts = rule("posts", "author_id", delete)
        let (notes, edits) = (rule("notes", "user_id", delete), rule("posts", "editor", delete))
        let own = "store.app-db.table"
        for (old, new, keys) in [
            (posts + notes, rule("likes", "u", delete) + posts + notes, ["\(own)[likes]"]),
            (
                posts + notes, rule("notes", "user_id", keep),
                ["\(own)[notes].action", "\(own)[notes].keep_reason", "\(own)[posts]"]
            ),
            (posts + notes, notes + posts, [own]),
            (posts, edits + posts, ["\(own)[posts.editor]"]),
            (
                posts + edits, posts + rule("posts", "editor", keep),
                ["\(own)[posts.editor].action", "\(own)[posts.editor].keep_reason"]
            ),
        ] {
            let changes = try ConfigurationChanges.find(
                from: Sample.load(head + old),
                to: Sample.load(head + new)
            )
            #expect(changes == keys)
        }
    }

    @Test("another order of stores is a change")
    func reordered() throws {
        let second = Sample.store.replacing("app-db", with: "b").replacing("app.db", with: "b.db")
        let changes = try ConfigurationChanges.find(
            from: Sample.load(Sample.store + second),
            to: Sample.load(second + Sample.store)
        )
        #expect(changes == ["store"])
    }

    @Test("a provider that is new needs a restart for what is read at start")
    func newProvider() throws {
        let added =
            Self.base
            + Sample.provider.replacing("\"apple\"\nkind", with: "\"b\"\nkind")
            .replacing("apple-key.p8", with: "b.p8") + "notification_poll_interval = \"10s\"\n"
        let blockers = try ReloadBlockers.find(
            from: Sample.load(Self.base),
            to: Sample.load(added)
        )
        let keys = ["provider.b.notification_poll_interval", "provider.b.private_key_credential"]
        #expect(blockers.map(\.key) == keys)
    }
}
