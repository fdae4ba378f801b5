import Engine
import Lifecycle
import Synchronization
import Testing

@testable import Stores

@Suite("A cluster of Redis", .serialized)
struct RedisClusterTests {
    private static func server(_ kind: RedisKind) throws -> RedisClusterServer {
        try (kind == .redis ? RedisClusterServer.shared : RedisClusterServer.valkey).get()
    }

    private static let rules = ["user:{user_id}", "s:{user_id}:*"]

    /// Keys of two users on all masters, and members of both in two hashes.
    private func fill(_ server: RedisClusterServer) throws {
        try server.clear()
        for user in ["ann", "anna"] {
            try server.cli("SET", "user:\(user)", "x")
            for number in 0..<40 { try server.cli("SET", "s:\(user):\(number)", "x") }
            for number in 0..<4 { try server.cli("HSET", "likes:\(number)", user, "1") }
        }
    }

    private func slot(of key: String, _ server: RedisClusterServer) throws -> Int {
        Int(try server.cli(at: 0, "CLUSTER", "KEYSLOT", key)[0]) ?? -1
    }

    @Test(
        "the slot of a key is the server's",
        arguments: [
            "foo", "user:1", "{user1000}.following", "foo{}{bar}", "foo{{bar}}zap", "foo{bar}{zap}",
            "{", "}", "a}b{c}", "é", "x{é}",
        ]
    )
    func slots(key: String) throws {
        let server = try Self.server(.redis)
        #expect(RedisSlot.slot(of: Array(key.utf8)) == (try slot(of: key, server)))
    }

    @Test(
        "keys and members on every master go, nothing of another user",
        arguments: RedisKind.allCases
    )
    func purges(kind: RedisKind) async throws {
        let server = try Self.server(kind)
        try fill(server)
        let target = server.target(try server.plan(Self.rules, [("likes:*", "{user_id}")]))
        #expect(await target.diagnose() == [])
        let order = try FilesFixture.order("ann")
        #expect(await target.verify([order]) == [.remaining(45)])
        #expect(await target.purge([order])[0].rowCounts == [1, 40, 4])
        #expect(await target.verify([order]) == [.clean])
        #expect(await target.purge([order])[0].rowCounts == [0, 0, 0])
        let keys = try server.keys
        #expect(keys.count == 45 && keys.allSatisfy { !$0.contains(":ann:") && $0 != "user:ann" })
        for number in 0..<4 {
            #expect(try server.cli("HKEYS", "likes:\(number)") == ["anna"])
        }
        guard case .found(let users) = await target.users(where: { _ in true }) else {
            Issue.record("no users")
            return
        }
        #expect(users.map { $0.exposeText() } == ["anna"])
    }

    @Test(
        "keys of a slot that is moved are followed, and a pass meanwhile is not believed",
        arguments: RedisKind.allCases
    )
    func moving(kind: RedisKind) async throws {
        let server = try Self.server(kind)
        try fill(server)
        let key = "user:ann"
        let slot = try self.slot(of: key, server)
        let ids = try (0..<3).map { try server.cli(at: $0, "CLUSTER", "MYID")[0] }
        let owners = try (0..<3).filter { node in
            let answer = try server.cli(at: node, "GET", key)
            return answer.first?.hasPrefix("MOVED") != true
        }
        let from = try #require(owners.first)
        let to = (from + 1) % 3
        try server.cli(at: to, "CLUSTER", "SETSLOT", "\(slot)", "IMPORTING", ids[from])
        try server.cli(at: from, "CLUSTER", "SETSLOT", "\(slot)", "MIGRATING", ids[to])
        let order = try FilesFixture.order("ann")
        let wide = server.target(try server.plan(Self.rules))
        #expect(await wide.verify([order]) == [.failure(.throttled(retryAfter: nil))])
        // The key itself is elsewhere already: ASK.
        try server.cli(
            at: from,
            "MIGRATE",
            "127.0.0.1",
            "\(server.port + to)",
            key,
            "0",
            "120000"
        )
        let exact = server.target(try server.plan(["user:{user_id}"]))
        #expect(await exact.verify([order]) == [.remaining(1)])
        #expect(await exact.purge([order])[0].rowCounts == [1])
        #expect(await exact.verify([order]) == [.clean])
        for node in [to, from, 3 - from - to] {
            try server.cli(at: node, "CLUSTER", "SETSLOT", "\(slot)", "NODE", ids[to])
        }
        #expect(await wide.purge([order])[0].rowCounts == [0, 40])
        #expect(await wide.verify([order]) == [.clean])
        #expect(try server.keys.allSatisfy { !$0.contains(":ann") || $0.contains(":anna") })
    }

    @Test(
        "the purge ends at the master that takes over, and nothing is left",
        arguments: RedisKind.allCases
    )
    func failover(kind: RedisKind) async throws {
        let server = try Self.server(kind)
        try fill(server)
        let rests = Mutex(0)
        let target = server.target(try server.plan(Self.rules)) { _ in
            let count = rests.withLock { count in
                count += 1
                return count
            }
            if count == 1 { try server.failOver() }
        }
        let order = try FilesFixture.order("ann")
        var answers: [PurgeAnswer] = []
        repeat {
            answers.append(await target.purge([order])[0])
        } while answers.last?.rowCounts == nil && answers.count < 20
        #expect(answers.count > 1 && answers.last?.rowCounts != nil, "\(answers)")
        #expect(await target.verify([order]) == [.clean])
        let keys = try server.keys.filter { !$0.hasPrefix("likes:") }
        #expect(keys.count == 41 && keys.allSatisfy { $0.contains("anna") })
    }

    @Test(
        "another database than 0 is a problem, and another machine without TLS is not asked",
        arguments: RedisKind.allCases
    )
    func refuses(kind: RedisKind) async throws {
        let server = try Self.server(kind)
        try fill(server)
        let before = try server.keys
        var plan = try server.plan(Self.rules)
        plan.database = 1
        // Such is the copy of a drill.
        let copy = server.target(plan)
        let problems = await copy.diagnose()
        #expect(problems.count == 1 && problems[0].contains("is part of a cluster"), "\(problems)")
        let order = try FilesFixture.order("ann")
        #expect(await copy.purge([order]) == [.failure(.misconfigured)])
        #expect(await copy.verify([order]) == [.failure(.misconfigured)])
        guard case .failure(.misconfigured) = await copy.users(where: { _ in true }) else {
            Issue.record("users of a database that is none")
            return
        }
        #expect(try server.keys == before)
        let line = "a1 10.0.0.5:6379@16379,name.example.com master - 0 0 1 connected 0-16383\n"
        let found = RedisTopology(line, from: "127.0.0.1")
        let topology = try #require(found)
        let place = RedisTopology.Place(host: "name.example.com", port: 6379)
        #expect(topology.places == [place])
        #expect(!topology.places[0].isLoopback)
        let gap = "a1 :6379@16379 myself,master - 0 0 1 connected 0-16382\n"
        #expect(RedisTopology(gap, from: "127.0.0.1") == nil)
    }
}
