import Engine
import Lifecycle
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import Stores

@Suite("Redis", .serialized)
struct RedisStoreTests {
    private static func order(_ user: String) throws -> PurgeOrder { try FilesFixture.order(user) }

    @Test(
        "keys and members of one user go, nothing of another, and the counts are right",
        arguments: RedisProgram.allCases
    )
    func purges(kind: RedisProgram) async throws {
        let fixture = try RedisFixture(database: 1, of: kind)
        for user in ["1", "12", "é", "e\u{301}", "a*"] {
            try fixture.set("user:\(user)", "s:\(user):a", "s:\(user):b:c", "f:x:\(user)")
            try fixture.server.cli(database: 1, "HSET", "online", user, "now")
            try fixture.server.cli(database: 1, "SADD", "likes:7", user, "\(user)/x")
            try fixture.server.cli(database: 1, "ZADD", "board", "0", "\(user)/old", "1", user)
        }
        try fixture.set("likes:count", "other", "s:1")
        let before = try fixture.keys
        let store = fixture.store(
            try fixture.settings(
                ["user:{user_id}", "s:{user_id}:*", "*:{user_id}", "gone:{user_id}"],
                [("online", "{user_id}"), ("likes:*", "{user_id}"), ("board", "{user_id}/*")]
            )
        )
        let orders = try ["1", "a*", "nobody"].map { try Self.order($0) }
        #expect(await store.diagnose() == [])
        #expect(await store.verify(orders) == [.remaining(9), .remaining(8), .clean])
        let plan = await store.plan(orders[1])
        guard case .items(let items) = plan else { return #expect(plan == .unknown) }
        #expect(items.map(\.count) == [1, 2, 2, 0, 1, 1, 1])
        #expect(!items.contains { !$0.hasNoTimestamps })
        let answers = await store.purge(orders)
        // Keys without a wildcard go first, so the third rule finds one of its two.
        #expect(answers[0].rowCounts == [1, 2, 2, 0, 1, 1, 1])
        let counts = [1, 2, 1, 0, 1, 1, 1]
        #expect(answers[1].rowCounts == counts)
        #expect(answers[2].rowCounts == [0, 0, 0, 0, 0, 0, 0])
        #expect(await store.verify(orders) == [.clean, .clean, .clean])
        #expect(await store.purge(orders)[0].rowCounts == [0, 0, 0, 0, 0, 0, 0])
        let gone: Set = [
            "user:1", "s:1:a", "s:1:b:c", "f:x:1", "s:1", "user:a*", "s:a*:a", "s:a*:b:c",
            "f:x:a*",
        ]
        #expect(try fixture.keys == before.filter { !gone.contains($0) })
        #expect(
            try fixture.server.cli(database: 1, "HKEYS", "online").sorted() == [
                "12", "e\u{301}", "é",
            ]
        )
        #expect(try fixture.server.cli(database: 1, "ZCARD", "board") == ["8"])
        // Two users who look the same, at once.
        let alike = try ["é", "e\u{301}"].map { try Self.order($0) }
        #expect(await store.verify(alike) == [.remaining(8), .remaining(8)])
        #expect(await store.purge(alike).map(\.rowCounts) == [counts, counts])
        #expect(await store.verify(alike) == [.clean, .clean])
        #expect(try fixture.server.cli(database: 1, "HKEYS", "online") == ["12"])
    }

    @Test(
        "a connection that the server ends in mid purge is taken up again, others' data unchanged",
        arguments: RedisProgram.allCases
    )
    func cut(kind: RedisProgram) async throws {
        let fixture = try RedisFixture(database: 2, of: kind)
        let fill = """
            for i=1,6000 do for _,u in ipairs({'ann','bob'}) do
            redis.call('set','s:'..u..':'..i,u..i) end end
            """
        try fixture.server.cli(database: 2, "EVAL", fill, "0")
        let sum = """
            local s=0 for i=1,6000 do local v=redis.call('get','s:bob:'..i)
            if v=='bob'..i then s=s+i end end return s
            """
        let order = try Self.order("ann")
        var cutCount = 0
        for step in 1...100 {
            let rests = Mutex(0)
            let store = fixture.store(try fixture.settings(["s:{user_id}:*"])) { _ in
                let count = rests.withLock { count in
                    count += 1
                    return count
                }
                guard count == step else { return }
                try fixture.server.cli("CLIENT", "KILL", "TYPE", "normal")
            }
            let answer = await store.purge([order])[0]
            guard answer == .failure(.lost) else {
                #expect(answer.rowCounts != nil)
                break
            }
            cutCount += 1
            #expect(await fixture.store(try fixture.settings(["s:{user_id}:*"])).diagnose() == [])
        }
        #expect(cutCount > 3)
        #expect(try fixture.server.cli(database: 2, "DBSIZE") == ["6000"])
        #expect(try fixture.server.cli(database: 2, "EVAL", sum, "0") == ["18003000"])
    }

    @Test("TLS needs a certificate of the very host, and an outage is no startup problem")
    func encryption() async throws {
        let fixture = try RedisFixture(database: 3)
        try fixture.set("user:ann")
        let port = Int(fixture.server.port)
        func host(_ name: String, isPlain: Bool = false) -> RedisKind.Address {
            .host(name, port: port, isPlain: isPlain)
        }
        var settings = try fixture.settings(["user:{user_id}"], at: host("localhost"))
        let order = try Self.order("ann")
        #expect(await fixture.store(settings).purge([order]) == [.failure(.unreachable)])
        settings.caFile = "\(fixture.server.folder)/server.crt"
        #expect(await fixture.store(settings).diagnose() == [])
        var empty = settings
        empty.database = 14
        #expect(
            await fixture.store(empty).inspect(withOutages: true).advice.map(\.text)
                == ["database 14 has no keys; see whether it is the application's"]
        )
        #expect(await fixture.store(settings).inspect(withOutages: true).advice == [])
        let other = try fixture.settings(["user:{user_id}"], at: host("127.0.0.1"))
        #expect(await fixture.store(other).purge([order]) == [.failure(.unreachable)])
        let plain = try fixture.settings(["user:{user_id}"], at: host("localhost", isPlain: true))
        #expect(await fixture.store(plain).purge([order]) == [.failure(.unreachable)])
        #expect(await fixture.store(plain).startupProblems() == [])
        #expect(await fixture.store(plain).diagnose().count == 1)
        #expect(try fixture.keys == ["user:ann"])
        #expect(await fixture.store(settings).purge([order])[0].rowCounts == [1])
        settings.caFile = "/nonexistent"
        #expect(await fixture.store(settings).purge([order]) == [.failure(.misconfigured)])
    }

    @Test(
        "a user of the ACL who may do too little is told which command and rule",
        arguments: RedisProgram.allCases
    )
    func permissions(kind: RedisProgram) async throws {
        let fixture = try RedisFixture(database: 4, of: kind)
        try fixture.server.cli(
            "ACL",
            "SETUSER",
            "eraser",
            "on",
            ">canary-pass-7c1e",
            "~user:*",
            "+unlink",
            "+exists",
            "+select",
            "+scan"
        )
        var settings = try fixture.settings(["user:{user_id}"])
        settings.username = "eraser"
        let password = "canary-pass-7c1e"
        #expect(await fixture.store(settings, password: password).diagnose() == [])
        try fixture.set("user:ann")
        let order = try Self.order("ann")
        #expect(
            await fixture.store(settings, password: password).purge([order])[0].rowCounts == [1]
        )
        settings.keys.append(try UserPattern("other:{user_id}"))
        let problems = await fixture.store(settings, password: password).startupProblems()
        #expect(problems.count == 2)
        #expect(problems.allSatisfy { $0.contains("'other:{user_id}'") })
        #expect(
            await fixture.store(settings, password: password).purge([order]) == [
                .failure(.misconfigured)
            ]
        )
        let refused = fixture.store(settings, password: "wrong")
        #expect(await refused.purge([order]) == [.failure(.misconfigured)])
        #expect(await refused.startupProblems().count == 1)
    }

    @Test(
        "a node of a cluster has a part of the keys only, and is refused in every database",
        arguments: RedisProgram.allCases,
        [0, 1]
    )
    func clusters(kind: RedisProgram, database: Int) async throws {
        let fixture = RedisFixture(server: try kind.node, database: database)
        let store = fixture.store(try fixture.settings(["s:{user_id}:*"]))
        let problems = await store.startupProblems()
        #expect(problems.count == 1 && problems[0].contains("is part of a cluster"), "\(problems)")
        let order = try Self.order("ann")
        #expect(await store.purge([order]) == [.failure(.misconfigured)])
        #expect(await store.verify([order]) == [.failure(.misconfigured)])
        guard case .failure(.misconfigured) = await store.users(where: { _ in true }) else {
            Issue.record("users of a part of the keys")
            return
        }
    }

    @Test("an id that holds the separator is left for an operator, and its neighbours are not")
    func separators() async throws {
        let fixture = try RedisFixture(database: 5)
        try fixture.set("s:a:1", "s:a:b:1")
        let store = fixture.store(try fixture.settings(["s:{user_id}:*"]))
        let answers = await store.purge([try Self.order("a:b"), try Self.order("zoe")])
        #expect(answers[0] == .failure(.unusable))
        #expect(answers[1].rowCounts == [0])
        #expect(try fixture.keys == ["s:a:1", "s:a:b:1"])
    }

    @Test(
        "a key of another type is a problem; a server that is stuck is not waited for",
        arguments: RedisProgram.allCases
    )
    func oddServers(kind: RedisProgram) async throws {
        let fixture = try RedisFixture(database: 6, of: kind)
        try fixture.set("online")
        var settings = try fixture.settings([], [("online", "{user_id}")])
        let order = try Self.order("ann")
        #expect(await fixture.store(settings).purge([order]) == [.failure(.unusable)])
        #expect(await fixture.store(settings).startupProblems().count == 1)
        let path = "\(fixture.server.folder)/silent.sock"
        let silent = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(unixDomainSocketPath: path).get()
        settings = try fixture.settings([], [("online", "{user_id}")], at: .socket(path))
        settings.timeout = .milliseconds(100)
        #expect(await fixture.store(settings).verify([order]) == [.failure(.unreachable)])
        try await silent.close()
    }

    @Test("families of keys that no rule deals with are found")
    func coverage() async throws {
        let fixture = try RedisFixture(database: 7)
        try fixture.set("user:1", "cart:1", "cart:2", "version")
        let found = await fixture.store(try fixture.settings(["user:{user_id}"])).coverage()
        guard case .findings(let findings) = found else { return #expect(found == .findings([])) }
        #expect(findings.filter { !$0.isCovered }.map(\.name) == ["cart:*", "version"])
        #expect(findings.filter(\.isCovered).map(\.name) == ["user:{user_id}"])
    }

    @Test("a family of keys with the id of a user is counted")
    func coverageOfUsers() async throws {
        let fixture = try RedisFixture(database: 10)
        try fixture.set("user:ann", "s:bob:1", "ann", "ann:x", "old-bob:1", "anna:1", "cart:1")
        let settings = try fixture.settings(["user:{user_id}", "s:{user_id}:*"])
        let found = await fixture.store(settings).coverage()
        guard case .findings(let findings) = found else { return #expect(found == .findings([])) }
        let reason = "of 7 keys looked at, no rule fits them"
        #expect(
            findings.filter { !$0.isCovered }.map { "\($0.name) \($0.reason)" } == [
                "* 3 \(reason)", "anna:* 1 \(reason)", "cart:* 1 \(reason)",
            ]
        )
    }

    @Test("one key of a family among many is found")
    func coverageOfMany() async throws {
        let fixture = try RedisFixture(database: 9)
        try fixture.set("cart:1")
        let fill = "for i = 1, 50000 do redis.call('SET', 'user:' .. i, 'x') end"
        _ = try fixture.server.cli(database: 9, "EVAL", fill, "0")
        let settings = try fixture.settings(["user:{user_id}"])
        let found = await fixture.store(settings).coverage()
        guard case .findings(let findings) = found else { return #expect(found == .findings([])) }
        #expect(findings.filter { !$0.isCovered }.map(\.name) == ["cart:*"])
        #expect(findings.filter(\.isCovered).map(\.name) == ["user:{user_id}"])
        _ = try fixture.server.cli(database: 9, "FLUSHDB")
    }

    /// `SCAN` commands that the server has had since the last count.
    private static func scanCount(_ server: RedisServer) throws -> Int {
        let lines = try server.cli("INFO", "commandstats")
        try server.cli("CONFIG", "RESETSTAT")
        let line = lines.first { $0.hasPrefix("cmdstat_scan:calls=") } ?? ""
        return Int(line.dropFirst(19).prefix { $0 != "," }) ?? 0
    }

    @Test(
        "one pass over the keys serves every rule and every user",
        arguments: RedisProgram.allCases
    )
    func onePass(kind: RedisProgram) async throws {
        let fixture = try RedisFixture(database: 11, of: kind)
        let fill = """
            for i = 1, 20000 do redis.call('SET', 'x:' .. i, 'x') end
            for u = 1, 100 do for k = 1, 3 do
            redis.call('SET', 'a:' .. u .. ':' .. k, 'x')
            redis.call('SET', 'b:' .. k .. ':' .. u, 'x')
            redis.call('SADD', 'c:' .. k, u) end end
            """
        try fixture.server.cli(database: 11, "EVAL", fill, "0")
        let one = fixture.store(try fixture.settings(["a:{user_id}:*"]))
        let many = fixture.store(
            try fixture.settings(["a:{user_id}:*", "b:*:{user_id}"], [("c:*", "{user_id}")])
        )
        _ = try Self.scanCount(fixture.server)
        #expect(await one.purge([try Self.order("1")])[0].rowCounts == [3])
        let single = try Self.scanCount(fixture.server)
        let orders = try (2...90).map { try Self.order("\($0)") }
        #expect(await many.purge(orders).allSatisfy { $0.rowCounts == [3, 3, 3] })
        #expect(try Self.scanCount(fixture.server) == single)
        #expect(await many.verify(orders).allSatisfy { $0 == .clean })
        #expect(try Self.scanCount(fixture.server) == single)
        guard case .found(let users) = await many.users(where: { _ in true }) else {
            Issue.record("no users")
            return
        }
        // User 1 has keys of the other rules, and 91 to 100 have all.
        #expect(users.count == 11)
        let left = try fixture.keys.filter { !$0.hasPrefix("x:") }
        #expect(left.count == 66)
        try fixture.server.cli(database: 11, "FLUSHDB")
    }

    @Test("a look for families ends in time and says how much it saw")
    func coverageIsBounded() async throws {
        let fixture = try RedisFixture(database: 12)
        let fill = "for i = 1, 50000 do redis.call('SET', 'user:' .. i, 'x') end"
        try fixture.server.cli(database: 12, "EVAL", fill, "0")
        let uptime = Mutex(Duration.zero)
        let store = RedisStore(
            name: StoreName("cache"),
            settings: try fixture.settings(["user:{user_id}"]),
            group: MultiThreadedEventLoopGroup.singleton,
            clock: StoreClock(
                wall: { present },
                uptime: {
                    uptime.withLock { time in
                        time += .seconds(1)
                        return time
                    }
                },
                rest: { _ in },
                entropy: { 0 }
            )
        )
        let found = await store.coverage()
        guard case .findings(let findings) = found else { return #expect(found == .findings([])) }
        let samples = findings.filter(\.isSample)
        let sample = try #require(samples.first)
        #expect(sample.name == "*" && sample.reason.hasSuffix("were looked at, the others not"))
        try fixture.server.cli(database: 12, "FLUSHDB")
    }

    @Test("an append-only file is named on the receipt", arguments: [nil, Duration.seconds(3600)])
    func residualCopies(kept: Duration?) async throws {
        let fixture = try RedisFixture(database: 8)
        let store = fixture.store(
            try fixture.settings(["user:{user_id}"]),
            residualCopiesKept: kept
        )
        let order = try Self.order("ann")
        try fixture.server.cli("CONFIG", "SET", "appendonly", "yes")
        let answer = await store.purge([order])[0]
        try fixture.server.cli("CONFIG", "SET", "appendonly", "no")
        guard case .done(let counts) = answer else { return #expect(answer == .failure(.lost)) }
        #expect(
            counts.residualCopies == [
                PurgeCounts.ResidualCopies(
                    .appendOnlyFile,
                    until: kept.map { present + $0 }
                )
            ]
        )
    }
}
