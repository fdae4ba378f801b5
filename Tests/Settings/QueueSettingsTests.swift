import PostgreSQL
import Stores
import Testing

@testable import Daemon
@testable import Settings

@Suite("Settings of queues")
struct QueueSettingsTests {
    private static let postgresql = """
        [[queue]]
        name = "app"
        kind = "postgresql"
        conninfo_credential = "app-queue"

        """
    private static let mysql = """
        [[queue]]
        name = "shop"
        kind = "mysql"
        database = "shop"
        username = "expunged_queue"

        """

    @Test("what each kind needs is read, with defaults that are safe")
    func reads() throws {
        let text = Self.postgresql + Self.mysql + "address = \"db.example.com\"\n"
        let queues = try Sample.load(text).queues
        #expect(queues.map(\.name) == ["app", "shop"])
        let first = try #require(queues[0].kind as? PostgreSQLQueue)
        #expect(first.conninfoCredential == "app-queue" && first.tls == .verifyFull)
        #expect(first.pollInterval == nil)
        let second = try #require(queues[1].kind as? MySQLQueue)
        #expect(second.place == .tcp(host: "db.example.com", port: 3306))
        #expect(second.tls == .verifyFull && second.passwordCredential == nil)
        #expect(second.pollInterval == .seconds(1))
    }

    @Test("the credentials of a queue are required")
    func credentials() throws {
        let names = try Sample.load(Self.postgresql).requiredCredentials.map(\.usedBy)
        #expect(names.contains("queue.app.conninfo_credential"))
    }

    @Test(
        "a key of another kind, a place that is missing or double, and open TCP are refused",
        arguments: [
            Self.postgresql + "database = \"app\"\n", Self.postgresql + "tls = \"prefer\"\n",
            Self.mysql, Self.mysql + "address = \"h\"\nsocket = \"/run/s\"\n",
            Self.mysql + "address = \"h\"\ntls = \"off\"\n",
            Self.mysql + "socket = \"/run/s\"\npoll_interval = \"1ms\"\n",
            Self.postgresql + Self.postgresql, "[[queue]]\nname = \"a:b\"\nkind = \"mysql\"\n",
        ]
    )
    func refuses(text: String) {
        #expect(throws: (any Error).self) { try Sample.load(text) }
    }

    @Test("a queue that comes or goes needs a restart")
    func restart() throws {
        let local = Self.mysql + "socket = \"/run/mysqld/mysqld.sock\"\n"
        let (one, both) = try (Sample.load(local), Sample.load(local + Self.postgresql))
        #expect(ReloadBlockers.find(from: one, to: one).isEmpty)
        #expect(ReloadBlockers.find(from: both, to: one).map(\.key) == ["queue.app"])
        #expect(ReloadBlockers.find(from: one, to: both).map(\.key).contains("queue.app"))
    }
}
