import Encoding
import FoundationEssentials
import Glibc
import Lifecycle
import Settings
import Storage
import Testing

@testable import Daemon
@testable import Sandbox

/// What `expunged --check` finds, and that each finding names object, reason and remedy.
struct CheckTests {
    /// How a client that the provider knows is answered about a code that does not exist.
    private static let known = LocalServer.Reply(
        status: 400,
        body: #"{"error":"invalid_grant"}"#
    )

    private static func with(
        reply: LocalServer.Reply = known,
        _ body: (CheckBench, LocalServer) async throws -> Void
    ) async throws {
        let bench = try CheckBench()
        let keys = LocalServer.Reply(body: try TestIssuer().keySet(), date: reply.date)
        try await LocalServer.with(
            bench.directory,
            react: { $0.path.hasSuffix("/keys") ? keys : reply },
            body: { try await body(bench, $0) }
        )
    }

    private static func expect(
        _ found: [Finding],
        _ name: String,
        _ place: String,
        _ reason: String,
        _ remedy: String,
        _ severity: Finding.Severity = .error
    ) {
        let fitting = found.contains {
            $0.severity == severity && $0.place.contains(place) && $0.reason.contains(reason)
                && $0.remedy.contains(remedy)
        }
        #expect(fitting, "\(name): \(found.map(\.text))")
    }

    @Test func `where everything is fine nothing is found`() async throws {
        try await Self.with { bench, server in
            try SpoolPlace(stateDirectory: bench.directory + "/state").makeIfMissing()
            let found = try await bench.check(at: server)
            #expect(found.map(\.text) == [])
            let (text, status) = SystemCheck.report(found, asJSON: false, "a.toml")
            #expect(text == "'a.toml' and everything that it names is fine" && status == .done)
        }
    }

    @Test func `for programs the check has the configuration that may leave the machine`()
        async throws
    {
        try await Self.with { bench, server in
            let options = try DaemonOptions(["--config", bench.directory + "/expunged.toml"])
            let found = try await bench.check(at: server)
            let shown = try #require(DaemonCommand.shareable(options, [:]))
            #expect(shown.contains("[[store]]\n"))
            let report = SystemCheck.report(found, asJSON: true, "", shareable: shown).0
            #expect(JSONValue(Array(report.utf8))?["configuration"]?.string == shown)
            _ = try await bench.check(at: server) { "[nonsense]\n" + $0 }
            #expect(DaemonCommand.shareable(options, [:]) == nil)
        }
    }

    @Test func `the page that a hint names exists for each kind`() {
        let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let pages =
            Kinds.providers.map { Remedy.guide(ofProvider: $0.name) }
            + Kinds.stores.map { Remedy.guide(ofStore: $0.name) }
        for page in pages {
            #expect(FileManager.default.fileExists(atPath: "\(root)/\(page)"), "\(page)")
        }
    }

    @Test func `each page about a store is about a kind`() throws {
        let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let pages = try FileManager.default.contentsOfDirectory(atPath: root + "/docs/stores")
        let kinds = Kinds.stores.map { $0.name + ".md" }
        // Presets are of kind "http".
        #expect(Set(pages) == Set(kinds + ["presets.md"]))
    }

    // MARK: Configurations

    private struct Wrong {
        let old: String
        let new: String
        let line: String
        let reason: String
        let remedy: String

        init(_ old: String, _ new: String, _ line: String, _ reason: String, _ remedy: String) {
            (self.old, self.new, self.line) = (old, new, line)
            (self.reason, self.remedy) = (reason, remedy)
        }
    }

    private static let wrong = [
        Wrong("[[provider]]", "[request]\n[[provider]]", ":1", "unknown_key", "name"),
        Wrong(
            "[[provider]]",
            "[requests]\ndedline = \"1d\"\n[[provider]]",
            ":2",
            "dedline",
            "name"
        ),
        Wrong(
            "[[provider]]",
            "[requests]\ngrace_period = \"5\"\n[[provider]]",
            ":2",
            "grace_period",
            "value"
        ),
        Wrong(
            "[[provider]]",
            "[requests]\napproval = \"maybe\"\n[[provider]]",
            ":2",
            "approval",
            "value"
        ),
        Wrong("name = \"apple\"", "name = \"apple", ":2", "no closing quote", "quotes"),
        Wrong("name = \"apple\"\n", "", ":1", "missing_key", "add the key"),
        Wrong("kind = \"apple\"", "kind = \"appel\"", ":3", "appel", "value"),
        Wrong("team_id = \"ABCDE12345\"\n", "", ":1", "team_id", "add the key"),
        Wrong("\"ABCDE12345\"", "\"ABCDE\"", ":4", "team_id", "value"),
        Wrong("\"ABCDE12345\"", "12345", ":4", "wrong_type", "value"),
        Wrong("[\"com.example.app\"]", "[]", ":6", "client_ids", "value"),
        Wrong("apple-key.p8\"", "../key\"", ":7", "private_key_credential", "value"),
        Wrong("{url}", "http://id.example", ":8", "base_url", "value"),
        Wrong("base_url", "concurrency = 0\nbase_url", ":8", "concurrency", "value"),
        Wrong("kind = \"sqlite\"", "kind = \"sqlight\"", ":15", "sqlight", "value"),
        Wrong("path = \"{here}/app.db\"\n", "", ":13", "missing_key", "add the key"),
        Wrong("{here}/app.db", "app.db", ":16", "path", "value"),
        Wrong("action = \"delete\"", "action = \"remove\"", ":20", "remove", "value"),
        Wrong("name = \"uploads\"", "name = \"app-db\"", ":23", "duplicate", "rename"),
        Wrong("[\"{user_id}\"]", "[\"all\"]", ":26", "paths", "value"),
        Wrong("ca_file = \"{here}/ca.pem\"", "ca_file = \"ca.pem\"", ":9", "ca_file", "value"),
    ]

    @Test func `each mistake in the file is found with its line`() async throws {
        try await Self.with { bench, server in
            for wrong in Self.wrong {
                let found = try await bench.check(at: server) { text in
                    #expect(text.contains(wrong.old))
                    return text.replacing(wrong.old, with: wrong.new, maxReplacements: 1)
                }
                let place = "expunged.toml\(wrong.line)"
                Self.expect(found, wrong.new, place, wrong.reason, wrong.remedy)
            }
        }
    }

    private struct Broken: Sendable {
        let name: String
        let place: String
        let reason: String
        let remedy: String
        let make: @Sendable (CheckBench) throws -> Void

        init(
            _ name: String,
            _ place: String,
            _ reason: String,
            _ remedy: String,
            _ make: @escaping @Sendable (CheckBench) throws -> Void
        ) {
            (self.name, self.place) = (name, place)
            (self.reason, self.remedy, self.make) = (reason, remedy, make)
        }
    }

    private static let secrets = [
        Broken("no vault key", "vault.key_credential", "missing", "/etc/expunged/credentials") {
            try $0.remove("credentials/vault-key")
        },
        Broken("a vault key of text", "vault.key_credential", "malformed_key", "keys.md") {
            try $0.write("credentials/vault-key", "secret")
        },
        Broken("no key of Apple", "private_key_credential", "missing", "/etc/expunged") {
            try $0.remove("credentials/apple-key.p8")
        },
        Broken("a key of text", "provider.apple", "malformed_key", "key_id") {
            try $0.write("credentials/apple-key.p8", "key")
        },
        Broken("an RSA key", "provider.apple", "wrong_key_type", "key_id") {
            try $0.write("credentials/apple-key.p8", try CryptoKey.makeRSA().privatePEM())
        },
        Broken("a key for everybody", "private_key_credential", "unsafe", "chmod 0600") {
            let key = try CryptoKey.makeP256().privatePEM()
            try $0.write("credentials/apple-key.p8", key, mode: 0o666)
        },
        Broken("no CA file", ":9: provider.apple.ca_file", "no such file", "PEM") {
            try $0.remove("ca.pem")
        },
        Broken("a CA file of text", ":9: provider.apple.ca_file", "no certificate", "PEM") {
            try $0.write("ca.pem", "text")
        },
    ]

    private static let stores = [
        Broken("no database", "store.app-db", "app.db", "docs/stores/sqlite.md") {
            try $0.remove("app.db")
        },
        Broken("no database but text", "store.app-db", "no SQLite database", "right file") {
            try $0.remove("app.db")
            try $0.write("app.db", String(repeating: "text ", count: 1000))
        },
        Broken("no table", ":17: store.app-db.table[0]", "'users' does not exist", "names") {
            try $0.database("CREATE TABLE people (id TEXT)")
        },
        Broken("no column", ":17: store.app-db.table[0]", "no column 'id'", "names") {
            try $0.database("CREATE TABLE users (user_id TEXT)")
        },
        Broken("a folder as database", "store.app-db", "not a regular file", "stores/sqlite.md") {
            try $0.remove("app.db")
            #expect(unsafe mkdir($0.directory + "/app.db", 0o700) == 0)
        },
        Broken("no folder", "store.uploads", "uploads", "docs/stores/files.md") {
            try $0.remove("uploads")
        },
        Broken("no marker", "store.uploads", ".expunged-root", "docs/stores/files.md") {
            try $0.remove("uploads/.expunged-root")
        },
    ]

    @Test func `each bad credential and store is found`() async throws {
        for broken in Self.secrets + Self.stores {
            try await Self.with { bench, server in
                try broken.make(bench)
                let found = try await bench.check(at: server)
                Self.expect(found, broken.name, broken.place, broken.reason, broken.remedy)
                let status = SystemCheck.report(found, asJSON: true, "").1
                #expect(status == .findings, "\(broken.name)")
            }
        }
    }

    @Test func `a foreign key without a rule is one finding`() async throws {
        try await Self.with { bench, server in
            try bench.database(
                """
                CREATE TABLE users (id TEXT PRIMARY KEY) STRICT;
                CREATE TABLE posts (author_id TEXT REFERENCES users, editor TEXT) STRICT;
                CREATE TABLE audit (actor_user_id TEXT) STRICT;
                """
            )
            let found = try await bench.check(at: server).map(\.reason)
            let rule = #"table = "posts", column = "author_id", via = "users.id""#
            #expect(found.count { $0.contains(rule) } == 1, "\(found)")
            #expect(!found.contains { $0.contains("refers to 'users'") }, "\(found)")
            #expect(found.contains { $0.contains("named like a user id") }, "\(found)")
        }
    }

    @Test func `of two stores of one database the first reports a column`() async throws {
        try await Self.with { bench, server in
            try bench.database(
                """
                CREATE TABLE users (id TEXT PRIMARY KEY, team TEXT) STRICT;
                CREATE TABLE notes (team TEXT) STRICT;
                CREATE TABLE audit (actor_user_id TEXT) STRICT;
                """
            )
            let uploads = "[[store]]\nname = \"uploads\""
            let second = """
                [[store.key]]
                name = "team"
                table = "users"
                column = "id"
                value = "team"
                [[store]]
                name = "notes"
                kind = "sqlite"
                path = "{here}/app.db"
                keyed_by = "app-db.team"
                [[store.table]]
                table = "notes"
                column = "team"
                action = "delete"

                """
            let found = try await bench.check(at: server) {
                $0.replacing(uploads, with: second + uploads)
            }
            let places = found.map(\.place).filter { $0.hasSuffix(": audit.actor_user_id") }
            #expect(places.count == 1 && places[0].contains("store.app-db"), "\(found)")
        }
    }

    // MARK: Environments

    private static let folders = [
        Broken("no state directory", "/state", "is missing", "start the service once") {
            try $0.remove("state")
        },
        Broken("a file as state directory", "/state", "no directory", "move it away") {
            try $0.remove("state")
            try $0.write("state", "")
        },
        Broken("a state directory for all", "/state", "written by others", "chmod go-w") {
            #expect(unsafe chmod($0.directory + "/state", 0o777) == 0)
        },
        Broken("a short hash key", "hash.key", "hash.key", "same backup") {
            try $0.write("state/hash.key", "short")
        },
        Broken("a folder as spool", "queue.db", "not a regular file", "spool-repair.md") {
            let path = $0.directory + "/state/spool/queue.db"
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true
            )
        },
        Broken("a file as the spool's folder", "queue.db", "cannot be used", "spool-repair.md") {
            try $0.write("state/spool", "")
        },
        Broken("a spool without a header", "queue.db", "(corrupt)", "spool-repair.md") {
            try spoil($0) { $0[0] = 0 }
        },
        Broken("a newer spool", "queue.db", "(newer_version)", "spool-repair.md") {
            try spoil($0) { $0[63] = 2 }
        },
        Broken("a database as spool", "queue.db", "(wrong_schema)", "spool-repair.md") { bench in
            let database = URL(filePath: bench.directory + "/app.db")
            try spoil(bench) { $0 = try Data(contentsOf: database) }
        },
    ]

    /// Makes a spool and changes its bytes.
    private static func spoil(
        _ bench: CheckBench,
        _ change: (inout Data) throws -> Void
    ) throws {
        let place = SpoolPlace(stateDirectory: bench.directory + "/state")
        try place.makeIfMissing()
        var bytes = try Data(contentsOf: URL(filePath: place.path))
        try change(&bytes)
        try bytes.write(to: URL(filePath: place.path))
    }

    @Test func `each broken directory is found`() async throws {
        for broken in Self.folders {
            try await Self.with { bench, server in
                try broken.make(bench)
                let found = try await bench.check(at: server)
                Self.expect(found, broken.name, broken.place, broken.reason, broken.remedy)
            }
        }
    }

    @Test func `a missing spool is a warning once there is a state`() async throws {
        try await Self.with { bench, server in
            let before = try await bench.check(at: server)
            #expect(!before.contains { $0.place.contains("queue.db") })
            try bench.write("state/hash.key", "short")
            let found = try await bench.check(at: server)
            Self.expect(found, "no spool", "queue.db", "is missing", "spool-repair.md", .warning)
        }
    }

    @Test func `a disk that is full, read-only or has no inodes is found`() async throws {
        try await Self.with { bench, server in
            var machine = bench.machine
            let spaces = [
                (DiskSpace(freeBytes: 1 << 20, freeFiles: 1 << 20), "1 MiB free"),
                (DiskSpace(freeBytes: 1 << 40, freeFiles: 7), "7 free inodes"),
                (DiskSpace(freeBytes: 1 << 40, freeFiles: 9999, isReadOnly: true), "read-only"),
            ]
            for (space, reason) in spaces {
                machine.space = { _ in space }
                let found = try await bench.check(at: server, machine: machine)
                Self.expect(found, reason, "/state", reason, "")
            }
        }
    }

    @Test func `what systemd knows and the journal are worth a warning`() async throws {
        try await Self.with { bench, server in
            try bench.remove("journal")
            try bench.remove("logs")
            let units = [
                ("LoadState=not-found", "no such unit", "install.md"),
                ("LoadState=loaded UnitFileState=disabled", "start with the machine", "enable"),
                ("LoadState=loaded NeedDaemonReload=yes", "changed", "daemon-reload"),
                ("LoadState=loaded WatchdogUSec=0", "watchdog", "WatchdogSec="),
                (
                    "LoadState=loaded ActiveState=active WatchdogUSec=infinity", "watchdog",
                    "WatchdogSec="
                ),
            ]
            for (unit, reason, remedy) in units {
                let found = try await bench.check(at: server, unit: unit)
                Self.expect(found, unit, "expunged.service", reason, remedy, .warning)
                Self.expect(found, unit, "/journal", "journal", "systemd-journald", .warning)
                Self.expect(found, unit, "/logs", "checkpoints", "start", .warning)
                #expect(SystemCheck.report(found, asJSON: false, "").1 == .done)
            }
        }
    }

    @Test func `a provider that cannot be reached or refuses the client is found`() async throws {
        let place = ":1: provider.apple"
        try await Self.with { bench, server in
            let names = [
                ("https://127.0.0.1:1", "connection refused at port 1"),
                ("https://nowhere.invalid", "resolved"),
            ]
            for (url, reason) in names {
                let found = try await bench.check(at: server) {
                    $0.replacing("{url}", with: url)
                }
                Self.expect(found, url, place, reason, "DNS")
            }
            let other = try ServerCertificate().certificatePEM
            try bench.write("ca.pem", other)
            let found = try await bench.check(at: server)
            Self.expect(found, "another CA", place, "unreachable", "ca_file")
        }
        let refusal = LocalServer.Reply(status: 400, body: #"{"error":"invalid_client"}"#)
        try await Self.with(reply: refusal) { bench, server in
            let found = try await bench.check(at: server)
            Self.expect(found, "invalid_client", place, "misconfigured", "apple.md")
        }
    }

    @Test func `a subscriber whose certificate is not trusted is found, and gets nothing`()
        async throws
    {
        let section = """
            [[subscriber]]
            name = "crm"
            url = "{url}/crm"
            secret_credential = "crm-messages"
            ca_file = "{here}/ca.pem"
            allow_private_addresses = true
            timeout = "60s"

            """
        let place = "subscriber.crm.url"
        try await Self.with { bench, server in
            let secret = Data(repeating: 1, count: 32).base64EncodedString()
            try bench.write("credentials/crm-messages", "whsec_" + secret)
            let fine = try await bench.check(at: server) { section + $0 }
            #expect(fine.map(\.text) == [])
            let strange = try await bench.check(at: server) { text in
                section.replacing("ca_file = \"{here}/ca.pem\"\n", with: "") + text
            }
            Self.expect(strange, "no CA", place, "its certificate is not trusted", "ca_file")
            #expect(!server.calls.contains { $0.path.contains("crm") })
        }
    }

    @Test(arguments: ["127.0.0.1:1", "{server}"])
    func `an API at a private address is found with the setting that permits it`(
        address: String
    ) async throws {
        let section = """
            [[store]]
            name = "api"
            kind = "http"
            preset = "amplitude"
            base_url = "https://{address}"
            ca_file = "{here}/ca.pem"
            timeout = "300s"
            key_credential = "api-key"
            values = { api_key = "a" }

            """
        try await Self.with { bench, server in
            try bench.write("credentials/api-key", "secret")
            let place = address.replacing("{server}", with: server.url.dropFirst(8))
            let text = section.replacing("{address}", with: place)
            let found = try await bench.check(at: server) { text + $0 }
            let setting = "allow_private_addresses"
            Self.expect(found, address, "store.api", setting, "set \(setting) = true")
            let fine = try await bench.check(at: server) { rest in
                text.replacing("ca_file", with: setting + " = true\nca_file") + rest
            }
            #expect(fine.contains { $0.severity == .error } == (place == address))
            #expect(!server.calls.contains { $0.path.contains("deletions") })
        }
    }

    @Test func `a clock far from the providers' is found`() async throws {
        var reply = Self.known
        reply.date = "Sun, 06 Nov 1994 08:49:37 GMT"
        try await Self.with(reply: reply) { bench, server in
            var machine = bench.machine
            let date = try #require(WallTime(rfc3339: "1994-11-06T08:49:37Z"))
            for (offset, reason) in [(Duration.seconds(90), "90 s ahead"), (.zero, "")] {
                machine.now = { date + offset }
                let found = try await bench.check(at: server, machine: machine)
                if offset == .zero {
                    #expect(found.isEmpty, "\(found.map(\.text))")
                } else {
                    Self.expect(found, "clock", "clock", reason, "timedatectl")
                }
            }
        }
    }

    // MARK: As the service

    @Test func `the settings of the unit make the sandbox of the check`() {
        let text = """
            # /lib/systemd/system/expunged.service
            [Unit]
            Description=Account deletion service
            [Service]
            Type=notify
            ExecStart=/usr/sbin/expunged \\
                --config /etc/expunged/expunged.toml
            Restart=always
            WatchdogSec=30s
            User=expunged
            Environment=EXPUNGED_BOOT_ID=%b
            LoadCredential=expunged:/etc/expunged/credentials/
            CapabilityBoundingSet=
            SystemCallFilter=@system-service
            SystemCallFilter=~@privileged @resources

            # /etc/systemd/system/expunged.service.d/app.conf
            [Service]
            ReadWritePaths=/srv/app
            [Install]
            WantedBy=multi-user.target
            """
        #expect(
            ServiceUnit.settings(of: text) == [
                "User=expunged", "LoadCredential=expunged:/etc/expunged/credentials/",
                "CapabilityBoundingSet=", "SystemCallFilter=@system-service",
                "SystemCallFilter=~@privileged @resources", "ReadWritePaths=/srv/app",
            ]
        )
    }

    @Test func `systemd shows no watchdog of a unit that never ran, which is no finding`()
        async throws
    {
        try await Self.with { bench, server in
            let unit = "LoadState=loaded ActiveState=inactive WatchdogUSec=infinity"
            let texts = try await bench.check(at: server, unit: unit).map(\.text)
            #expect(texts.isEmpty)
        }
    }

    @Test func `another user than the service's gets one line and no error`() async throws {
        try await Self.with { bench, server in
            var machine = bench.machine
            machine.user = geteuid() + 1
            let own = try await bench.check(at: server, machine: machine)
            #expect(own.map(\.text) == [])
            machine.unitFolders = [bench.directory + "/state", bench.directory + "/credentials"]
            try bench.remove("credentials/vault-key")
            let found = try await bench.check(at: server, machine: machine)
            #expect(found.map(\.severity) == [.unexamined])
            let (text, status) = SystemCheck.report(found, asJSON: false, "")
            let lines = text.split(separator: "\n")
            #expect(lines.first?.hasPrefix("not examined: state, keys") == true)
            #expect(lines.first?.contains("permission") == true)
            #expect(lines.first?.contains("sudo expungectl doctor") == true)
            #expect(lines.dropFirst() == ["0 errors, 0 warnings"] && status == .unexamined)
            let wrong = try await bench.check(at: server, machine: machine) { "[nonsense]\n" + $0 }
            #expect(SystemCheck.report(wrong, asJSON: true, "").1 == .findings)
            #expect(wrong.map(\.code).contains("unknown_key"))
        }
    }

    @Test func `the last line counts`() {
        let found = [Finding(at: "a", "b", remedy: "c"), Finding(at: "d", "e", remedy: "f")]
        let (one, two) = (found.dropLast(), found)
        #expect(
            SystemCheck.report(Array(one), asJSON: false, "").0.hasSuffix("1 error, 0 warnings")
        )
        #expect(SystemCheck.report(two, asJSON: false, "").0.hasSuffix("2 errors, 0 warnings"))
    }

    @Test func `JSON names the same, and the worst decides`() throws {
        let found = [
            Finding(.warning, at: "a", "b", remedy: "c"), Finding(at: "d", "e\u{1b}", remedy: "f"),
        ]
        let (text, status) = SystemCheck.report(found, asJSON: true, "")
        #expect(status == .findings)
        let json = try #require(JSONValue(Array(text.utf8)))
        #expect(json["ok"]?.bool == false)
        #expect(json["findings"]?.array?.map { $0["place"]?.string } == ["a", "d"])
        #expect(!text.unicodeScalars.contains("\u{1b}"))
    }
}
