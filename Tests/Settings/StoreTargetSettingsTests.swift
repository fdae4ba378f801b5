import Lifecycle
import Testing

@testable import Settings

@Suite("Settings of targets of Redis, programs and services")
struct StoreTargetSettingsTests {
    private static func target(_ kind: String, _ text: String) throws -> TargetKind {
        let head = "[[target]]\nname = \"store\"\nkind = \"\(kind)\"\n"
        return try #require(try Sample.load(head + text + "\n").targets.first).kind
    }

    @Test("a Redis server is reached by its socket or by host and port")
    func redis() throws {
        let kind = try Self.target(
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
        guard case .redis(let redis) = kind else { return #expect(kind.family == .redis) }
        #expect(redis.place == .host("localhost", port: 6379, isPlain: true))
        #expect(redis.members == ["likes:*": "{user_id}"])
        #expect(redis.database == 3 && redis.timeout == .seconds(10))
        #expect(kind.credentials.map(\.name) == ["redis"])
        let socket = "socket = \"/run/r.sock\"\nkeys = [\"a{user_id}\"]"
        guard case .redis(let local) = try Self.target("redis", socket) else { return }
        #expect(local.place == .socket("/run/r.sock"))
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
            "socket = \"/s\"\nkeys = [\"{user_id}\"]\nusername = \"eraser\"",
            "socket = \"/s\"\nkeys = [\"{user_id}\"]\ndatabase = -1",
        ]
    )
    func refused(text: String) {
        #expect(throws: (any Error).self) { try Self.target("redis", text) }
    }

    @Test("a program and a service have their bounds")
    func delegated() throws {
        let program = try Self.target("command", "program = \"/usr/bin/true\"")
        guard case .command(let command) = program else {
            return #expect(program.family == .command)
        }
        #expect(command.timeout == .seconds(60) && command.memoryMax == 256 << 20)
        let service = try Self.target(
            "webhook",
            "url = \"https://a.example/x\"\nsecret_credential = \"hook\""
        )
        guard case .webhook(let webhook) = service else {
            return #expect(service.family == .webhook)
        }
        #expect(!webhook.allowsPrivateAddresses)
        #expect(service.credentials.map(\.key) == ["secret_credential"])
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
        #expect(throws: (any Error).self) { try Self.target(kind, text) }
    }
}
