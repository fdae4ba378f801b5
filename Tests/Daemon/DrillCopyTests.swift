import Engine
import FoundationEssentials
import Glibc
import Lifecycle
import NIOPosix
import Settings
import Stores
import Systemd
import Testing

@testable import Daemon

struct DrillCopyTests {
    /// Stores in a configuration, and a directory for their files and credentials.
    private struct World: Sendable {
        let bench: Bench
        let configuration: DaemonConfiguration

        init(_ stores: String, conninfo: String = "host=/run/pg dbname=app user=x") throws {
            bench = try Bench()
            for name in ["app.db", "crm.db", "copy.db"] { try Self.write("", bench, name) }
            for name in ["files/pictures", "copies"] {
                try FileManager.default.createDirectory(
                    atPath: bench.directory + "/" + name,
                    withIntermediateDirectories: true
                )
            }
            #expect(unsafe symlink(bench.directory, bench.directory + "/linked") == 0)
            #expect(
                unsafe link(bench.directory + "/app.db", bench.directory + "/hard.db") == 0
            )
            try Self.write(conninfo, bench, "pg")
            try Self.write("host=/run/pg dbname=crm", bench, "pg-crm")
            try Self.write("secret", bench, "s3-key")
            let text = stores.replacing("{here}", with: bench.directory)
            configuration = try DaemonConfiguration.parse(Array(text.utf8), file: "t.toml")
        }

        private static func write(_ text: String, _ bench: Bench, _ name: String) throws {
            let path = bench.directory + "/" + name
            try Data(text.utf8).write(to: URL(filePath: path))
            #expect(unsafe chmod(path, 0o600) == 0)
        }

        func copy(_ place: String) async -> RecheckCopy {
            let factory = AdapterFactory(
                credentials: CredentialDirectory(path: bench.directory),
                hasher: bench.hasher,
                eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
                now: { Bench.start },
                logger: bench.log.logger
            )
            return await factory.makeCopy(
                of: StoreName("store"),
                at: place.replacing("{here}", with: bench.directory),
                configuration
            )
        }
    }

    private static let table = """
        [[store.table]]
        table = "posts"
        column = "author"
        action = "delete"

        """

    private static func section(_ text: String, named name: String = "store") -> String {
        "[[store]]\nname = \"\(name)\"\n\(text)\n"
    }

    private static let sqlite =
        section("kind = \"sqlite\"\npath = \"{here}/app.db\"\n" + table)
        + section("kind = \"sqlite\"\npath = \"{here}/crm.db\"\n" + table, named: "crm")
    private static let files = section(
        "kind = \"files\"\nroot = \"{here}/files\"\npaths = [\"{user_id}\"]"
    )
    private static let postgresql =
        section("kind = \"postgresql\"\nconninfo_credential = \"pg\"\n" + table)
        + section("kind = \"postgresql\"\nconninfo_credential = \"pg-crm\"\n" + table, named: "crm")
    private static let redis = section(
        "kind = \"redis\"\nsocket = \"/run/r.sock\"\ndatabase = 1\nkeys = [\"u:{user_id}\"]"
    )

    private static func s3(_ endpoint: String, _ more: String = "") -> String {
        section(
            """
            kind = "s3"
            bucket = "live-place"
            region = "eu-central-1"
            url_style = "path"
            access_key_id = "owner"
            secret_key_credential = "s3-key"
            endpoint = "\(endpoint)"
            prefixes = ["users/{user_id}/"]
            \(more)
            """
        )
    }

    private static func cloudStorage(_ url: String, _ more: String = "") -> String {
        section(
            """
            kind = "google-cloud-storage"
            bucket = "live-place"
            emulator = true
            base_url = "\(url)"
            prefixes = ["users/{user_id}/"]
            \(more)
            """
        )
    }

    private static func firestore(_ url: String, _ more: String = "") -> String {
        section(
            """
            kind = "firestore"
            project = "example-project"
            database = "live-place"
            emulator = true
            base_url = "\(url)"
            documents = ["users/{user_id}"]
            \(more)
            """
        )
    }

    private static func database(
        _ access: String,
        at url: String = "https://live-place.firebaseio.com",
        named name: String = "store"
    ) -> String {
        section(
            "kind = \"realtime-database\"\nurl = \"\(url)\"\npaths = [\"users/{user_id}\"]\n"
                + access,
            named: name
        )
    }

    private static func accounts(_ access: String, named name: String = "store") -> String {
        section("kind = \"firebase-auth\"\nproject = \"p\"\n" + access, named: name)
    }

    private static func emulator(_ url: String, _ more: String = "") -> String {
        "emulator = true\nbase_url = \"\(url)\"\n\(more)\n"
    }

    /// A place that is no copy, and what is said of it.
    private struct Refusal: Sendable, CustomTestStringConvertible {
        let store: String
        let place: String
        let word: String

        init(_ store: String, _ place: String, _ word: String) {
            (self.store, self.place, self.word) = (store, place, word)
        }

        var testDescription: String { place }
    }

    private static let here = "https://localhost:1"
    private static let trees =
        database(emulator(here))
        + database(emulator(here), at: "https://CRM.asia-east1.firebasedatabase.app", named: "crm")
    private static let tenants =
        accounts(emulator(here, "tenant = \"live-Place\""))
        + accounts(emulator(here, "tenant = \"crm\""), named: "crm")
    private static let isStore = "store 'store' itself"
    private static let refusals = [
        Refusal(sqlite, "{here}/app.db", isStore),
        Refusal(sqlite, "{here}/linked/app.db", isStore),
        Refusal(sqlite, "{here}/hard.db", isStore),
        Refusal(sqlite, "{here}/crm.db", "store 'crm' itself"),
        Refusal(sqlite, "copy.db", "absolute path"),
        Refusal(sqlite, "{here}/files/../app.db", "without '..'"),
        Refusal(files, "{here}/files", isStore),
        Refusal(files, "{here}/linked/files", isStore),
        Refusal(files, "{here}/files/pictures", isStore),
        Refusal(files, "{here}", isStore),
        Refusal(postgresql, "app", isStore),
        Refusal(postgresql, "crm", "store 'crm' itself"),
        Refusal(postgresql, "a\nb", "control characters"),
        Refusal(redis, "1", isStore),
        Refusal(redis, "01", "number of a database"),
        Refusal(redis, "copy", "number of a database"),
        Refusal(redis, "65536", "number of a database"),
        Refusal(s3(here), "live-place", isStore),
        Refusal(s3(here), "evil.example.com/x", "3 to 63 characters"),
        Refusal(cloudStorage(here), "live-place", isStore),
        Refusal(cloudStorage(here), "a/b", "1 to 222 characters"),
        Refusal(firestore(here), "live-place", isStore),
        Refusal(firestore(here), "a/../b", "1 to 222 characters"),
        Refusal(trees, "live-place", isStore),
        Refusal(trees, "crm", "store 'crm' itself"),
        Refusal(trees, "LIVE-PLACE", "1 to 63 letters"),
        Refusal(trees, "evil.example.com/", "1 to 63 letters"),
        Refusal(trees, "a&ns=live-place", "1 to 63 letters"),
        Refusal(trees, "", "1 to 63 letters"),
        Refusal(tenants, "live-Place", isStore),
        Refusal(tenants, "crm", "store 'crm' itself"),
        Refusal(tenants, "x/../live-Place", "1 to 63 letters"),
        Refusal(tenants, "x:y", "1 to 63 letters"),
    ]

    @Test(arguments: refusals)
    private func `what is live or malformed is no copy`(_ refusal: Refusal) async throws {
        let copy = try await World(refusal.store).copy(refusal.place)
        await copy.close()
        #expect(copy.refusal?.code == "bad_copy")
        #expect(copy.refusal?.detail.contains(refusal.word) == true)
    }

    @Test(
        arguments: [
            (sqlite, "{here}/copy.db"), (sqlite, "{here}/nowhere.db"), (files, "{here}/copies"),
            (postgresql, "copy"), (postgresql, "host=evil"), (redis, "0"), (s3(here), "copies"),
            (cloudStorage(here), "copies"), (firestore(here), "(default)"),
            (trees, "copies"), (tenants, "copies-A1b2c"), (accounts(emulator(here)), "copies"),
        ]
    )
    func `another place of the same kind is one, whether it is there or not`(
        _ store: String,
        _ place: String
    ) async throws {
        let copy = try await World(store).copy(place)
        #expect(copy.refusal == nil)
        await copy.close()
    }

    @Test(arguments: ["host=/run/pg user=x", "user=x", "postgresql://h/", "no conninfo"])
    func `a connection string without a database leaves open what the store is`(
        _ conninfo: String
    ) async throws {
        let copy = try await World(Self.postgresql, conninfo: conninfo).copy("copy")
        #expect(copy.refusal?.code == "bad_copy")
        let detail = try #require(copy.refusal?.detail)
        #expect(detail.contains("with dbname"))
        #expect(!detail.contains("run/pg"), "nothing of the credential")
    }

    @Test(
        arguments: [
            database("key_credential = \"key\"\nbase_url = \"https://localhost:1\""),
            database(emulator(here), at: "https://live-place.firebaseio.com.example.com"),
            database(emulator(here), at: "https://firebaseio.com"),
            database("key_credential = \"key\"", at: "https://live-place.firebaseio.com:8443"),
        ]
    )
    func `kinds without copies say why`(_ store: String) async throws {
        let copy = try await World(store).copy("copy")
        await copy.close()
        #expect(copy.refusal?.code == "no_copies")
        #expect(copy.refusal?.detail.isEmpty == false)
    }

    @Test(
        arguments: [
            ("https://Live-place.firebaseio.com", "https://copy.firebaseio.com"),
            (
                "https://live-place.europe-west1.firebasedatabase.app/",
                "https://copy.europe-west1.firebasedatabase.app"
            ),
        ]
    )
    func `another Realtime Database is a host of the same domain`(
        _ url: String,
        _ copied: String
    ) throws {
        let store = Self.database("key_credential = \"key\"", at: url)
        let read = try DaemonConfiguration.parse(Array(store.utf8), file: "t.toml")
        let settings = try #require(read.stores[0].settings as? any DrillCopying)
        let copy = try settings.copy(at: "copy")
        #expect(try #require(copy as? RealtimeDatabaseKind).url == copied)
    }

    @Test(arguments: ["s3", "cloud-storage", "firestore", "realtime-database", "firebase-auth"])
    func `only the copy is asked, at the endpoint of the store`(_ kind: String) async throws {
        let bench = try Bench()
        try await LocalServer.with(bench.directory) { _ in
            LocalServer.Reply(status: 403, body: "{}")
        } body: { server in
            let limits =
                kind == "s3"
                ? "timeout = \"300s\"" : "timeout_connect = \"60s\"\ntimeout_total = \"300s\""
            let trust = "ca_file = \"\(server.authorityFile)\"\n" + limits
            let store =
                switch kind {
                case "s3": Self.s3(server.url, trust)
                case "firestore": Self.firestore(server.url, trust)
                case "realtime-database": Self.database(Self.emulator(server.url, trust))
                case "firebase-auth":
                    Self.accounts(Self.emulator(server.url, "tenant = \"live-place\"\n" + trust))
                default: Self.cloudStorage(server.url, trust)
                }
            let copy = try await World(store).copy("copied-place")
            let opened = try #require(copy.store)
            _ = await opened.diagnose()
            await copy.close()
            #expect(!server.calls.isEmpty)
            #expect(server.calls.allSatisfy { $0.path.contains("copied-place") })
            #expect(!server.calls.contains { $0.path.contains("live-place") })
        }
    }
}
