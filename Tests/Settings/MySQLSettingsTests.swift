import Stores
import Testing

@testable import Daemon
@testable import Settings

@Suite("Settings of a MySQL target")
struct MySQLSettingsTests {
    private static let section = """
        [[target]]
        name = "app-my"
        kind = "mysql"

        """
    private static let table = """
        [[target.table]]
        table = "invoices"
        column = "user_id"
        action = "delete"
        created_at_column = "created"
        created_at_unit = "timestamp"

        """
    private static let access = "database = \"app\"\nusername = \"expunged\"\n"

    private static func store(_ keys: String) throws -> MySQLKind {
        let configuration = try Sample.load(section + keys + "\n" + access + table)
        return try #require(configuration.targets.first?.settings as? MySQLKind)
    }

    @Test("what it needs is read, with defaults that are safe")
    func reads() throws {
        let store = try Self.store("address = \"db.example.com\"\npassword_credential = \"my\"")
        #expect(store.place == .tcp(host: "db.example.com", port: 3306))
        #expect(store.tls == .verifyFull)
        #expect(store.statementTimeout == .seconds(5) && store.lockTimeout == .seconds(1))
        #expect(store.claims.rules.first?.creation?.unit == .timestamp)
        let local = try Self.store("socket = \"/run/mysqld/mysqld.sock\"")
        #expect(local.place == .socket("/run/mysqld/mysqld.sock"))
        #expect(local.passwordCredential == nil)
        let loopback = try Self.store("address = \"127.0.0.1:3307\"\ntls = \"off\"")
        #expect(loopback.place == .tcp(host: "127.0.0.1", port: 3307))
    }

    @Test(
        "a password, a path or weaker TLS has no key here",
        arguments: [
            "", "address = \"h\"\npassword = \"x\"", "address = \"h\"\ntls = \"verify-ca\"",
            "address = \"h\"\ntls = \"off\"", "address = \"h\"\nsocket = \"/run/s\"",
            "socket = \"run/s\"", "socket = \"/s\"\npath = \"/srv/a.db\"",
            "socket = \"/s\"\nlock_timeout = \"100ms\"",
        ]
    )
    func refuses(keys: String) {
        #expect(throws: (any Error).self) { try Self.store(keys) }
    }

    @Test("a copy is another database and nothing else")
    func copies() throws {
        let store = try Self.store("address = \"db.example.com\"\npassword_credential = \"my\"")
        let copy = try store.copy(at: "app_copy")
        #expect(copy.database == "app_copy" && copy.place == store.place)
        #expect(throws: (any Error).self) { try store.copy(at: "a\nb") }
        #expect(try store.copy(at: "app") == store)
    }
}
