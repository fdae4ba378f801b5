import Stores
import Testing

@testable import Daemon
@testable import Settings

@Suite("Settings of a MySQL store")
struct MySQLSettingsTests {
    private static let section = """
        [[store]]
        name = "app-my"
        kind = "mysql"

        """
    private static let table = """
        [[store.table]]
        table = "invoices"
        column = "user_id"
        action = "delete"
        created_at_column = "created"
        created_at_unit = "timestamp"

        """
    private static let access = "database = \"app\"\nusername = \"expunged\"\n"

    private static func settings(_ keys: String) throws -> MySQLKind {
        let configuration = try Sample.load(section + keys + "\n" + access + table)
        return try #require(configuration.stores.first?.settings as? MySQLKind)
    }

    @Test("what it needs is read, with defaults that are safe")
    func reads() throws {
        let settings = try Self.settings(
            "address = \"db.example.com\"\npassword_credential = \"my\""
        )
        #expect(settings.place == .tcp(host: "db.example.com", port: 3306))
        #expect(settings.tls == .verifyFull)
        #expect(settings.statementTimeout == .seconds(5) && settings.lockTimeout == .seconds(1))
        #expect(settings.claims.rules.first?.creation?.unit == .timestamp)
        let local = try Self.settings("socket = \"/run/mysqld/mysqld.sock\"")
        #expect(local.place == .socket("/run/mysqld/mysqld.sock"))
        #expect(local.passwordCredential == nil)
        let loopback = try Self.settings("address = \"127.0.0.1:3307\"\ntls = \"off\"")
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
        #expect(throws: (any Error).self) { try Self.settings(keys) }
    }

    @Test("a copy is another database and nothing else")
    func copies() throws {
        let settings = try Self.settings(
            "address = \"db.example.com\"\npassword_credential = \"my\""
        )
        let copy = try settings.copy(at: "app_copy")
        #expect(copy.database == "app_copy" && copy.place == settings.place)
        #expect(throws: (any Error).self) { try settings.copy(at: "a\nb") }
        #expect(try settings.copy(at: "app") == settings)
    }
}
