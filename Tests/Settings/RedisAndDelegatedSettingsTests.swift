import Lifecycle
import Testing

@testable import Daemon
@testable import Settings
@testable import Stores

@Suite("Settings of stores of Redis, programs and services")
struct RedisAndDelegatedSettingsTests {
    private static func store(_ kind: String, _ text: String) throws -> any StoreKind {
        let head = "[[store]]\nname = \"store\"\nkind = \"\(kind)\"\n"
        return try #require(try Sample.load(head + text + "\n").stores.first).settings
    }

    @Test("a Redis server is reached by its socket or by host and port")
    func redis() throws {
        let kind = try Self.store(
            "redis",
            """
            address = "localhost"
            allow_plain_tcp = true
            password_credential = "redis"
            database = 3
            keys = ["user:{user_id}"]
            members = { "likes:*" = "{user_id}" }
            """
        )
        let redis = try #require(kind as? RedisKind)
        #expect(redis.address == .host("localhost", port: 6379, isPlain: true))
        #expect(redis.members.map(\.description) == ["likes:* {user_id}"])
        #expect(redis.database == 3 && redis.timeout == .seconds(10))
        #expect(redis.passwordCredential == "redis")
        let socket = "socket = \"/run/r.sock\"\nkeys = [\"a{user_id}\"]"
        let local = try #require(try Self.store("redis", socket) as? RedisKind)
        #expect(local.address == .socket("/run/r.sock"))
    }

    @Test(
        "a Redis server that is not said clearly stops the start",
        arguments: [
            "keys = [\"{user_id}\"]",
            "address = \"a\"\nsocket = \"/s\"\nkeys = [\"{user_id}\"]",
            "address = \"redis.example.com\"\nallow_plain_tcp = true\nkeys = [\"{user_id}\"]",
            "socket = \"/s\"",
            "socket = \"/s\"\nkeys = [\"user\"]",
            "socket = \"/s\"\nkeys = [\"u:{user_id}*\"]",
            "socket = \"/s\"\nkeys = [\"u:{user_id}x*\"]",
            "socket = \"/s\"\nmembers = { online = \"u:{user_id}x*\" }",
            "socket = \"/s\"\nkeys = [\"{user_id}\"]\nusername = \"eraser\"",
            "socket = \"/s\"\nkeys = [\"{user_id}\"]\ndatabase = -1",
        ]
    )
    func refused(text: String) {
        #expect(throws: (any Error).self) { try Self.store("redis", text) }
    }

    @Test("a program and a service have their bounds")
    func delegated() throws {
        let program = try Self.store("command", "program = \"/usr/bin/true\"")
        let command = try #require(program as? CommandStoreKind)
        #expect(command.timeout == .seconds(60) && command.memoryMax == 256 << 20)
        let service = try Self.store(
            "webhook",
            "url = \"https://a.example/x\"\nsecret_credential = \"hook\""
        )
        let webhook = try #require(service as? WebhookKind)
        #expect(!webhook.allowsPrivateAddresses)
        #expect(webhook.secretCredential == "hook")
    }

    @Test(
        "a program or service that is not said clearly stops the start",
        arguments: [
            ("command", ""), ("command", "program = \"relative\""), ("webhook", ""),
            ("webhook", "url = \"ftp://a.example\"\nsecret_credential = \"hook\""),
            ("webhook", "url = \"http://a.example\"\nsecret_credential = \"hook\""),
        ]
    )
    func refusedDelegates(kind: String, text: String) {
        #expect(throws: (any Error).self) { try Self.store(kind, text) }
    }
}
