import PostgreSQL
import Stores
import Testing

@testable import Daemon
@testable import Settings

@Suite("Settings of a PostgreSQL store")
struct PostgreSQLSettingsTests {
    private static let section = """
        [[store]]
        name = "app-pg"
        kind = "postgresql"

        """
    private static let table = """
        [[store.table]]
        table = "billing.invoices"
        column = "user_id"
        action = "delete"
        id_type = "uuid"
        created_at_column = "created"
        created_at_unit = "timestamp"

        """

    @Test("what it needs is read, with defaults that are safe")
    func reads() throws {
        let configuration = try Sample.load(
            Self.section + "conninfo_credential = \"app-pg\"\n" + Self.table
        )
        let store = try #require(configuration.stores.first)
        #expect(store.kind == "postgresql")
        let postgresql = try #require(store.settings as? PostgreSQLKind)
        #expect(postgresql.schemas == ["public"])
        #expect(postgresql.tls == .verifyFull)
        #expect(postgresql.statementTimeout == .seconds(5))
        #expect(postgresql.lockTimeout == .seconds(1))
        #expect(postgresql.claims.rules.first?.idType == .uuid)
        #expect(postgresql.claims.rules.first?.creation?.unit == .timestamp)
    }

    @Test(
        "a password, a path or weaker TLS has no key here",
        arguments: [
            "", "conninfo_credential = \"a\"\npassword = \"x\"",
            "conninfo_credential = \"a\"\npath = \"/srv/a.db\"",
            "conninfo_credential = \"a\"\ntls = \"prefer\"",
            "conninfo_credential = \"../a\"",
        ]
    )
    func refuses(keys: String) {
        #expect(throws: (any Error).self) {
            try Sample.load(Self.section + keys + "\n" + Self.table)
        }
    }
}
