import Engine
import Lifecycle
import Synchronization
import Testing

@testable import Storage

@Suite("Commits of several hosts")
struct SharedCommitTests {
    private static let start = SharedBench.start

    @Test func `an old epoch commits nothing, and says which claims are lost`() async throws {
        let bench = try SharedBench("a", "b")
        let (a, b) = (bench.hosts[0], bench.hosts[1])
        let loaded = try await a.accept("u")
        let old = loaded.claim(in: try await bench.take(.all, for: a))
        let change = loaded.change { $0.dueAt = Self.start + .seconds(77) }
        try bench.expire()
        let new = loaded.claim(in: try await bench.take(PartitionSet([loaded.partition]), for: b))
        let refused = await a.commit([change], under: old)
        #expect(refused.refusal == CommitRefusal(lost: old))
        let time = (Self.start + .seconds(77)).unixMilliseconds
        let due = "SELECT count(*) FROM requests WHERE due_at = \(time)"
        #expect(try await bench.int(due) == 0)
        #expect(await b.commit([change], under: new).isCommitted)
        #expect(try await bench.int(due) == 1)
    }

    @Test func `a commit with one lost claim among several writes nothing`() async throws {
        let bench = try SharedBench("a", "b")
        let (a, b) = (bench.hosts[0], bench.hosts[1])
        let claims = try await bench.take(.all, for: a)
        try bench.expire()
        _ = try await bench.take(PartitionSet(Partition.all.prefix(1)), for: b)
        try bench.prolong()
        let pause = StateChange.pauseStore(StoreName("db"), reason: "test", at: Self.start)
        let outcome = await a.commit([pause], under: claims)
        #expect(outcome.refusal?.lost == Array(claims.prefix(1)))
        #expect(try await a.rules().pauses.stores.isEmpty)
        #expect(await a.commit([pause], under: Array(claims.dropFirst())).isCommitted)
    }

    @Test(arguments: ["BEGIN", "UPDATE commits", "SELECT number, epoch", "INSERT INTO pauses"])
    func `a connection that ends before COMMIT has a commit made once`(_ sql: String) async throws {
        let faults = StatementFaults()
        let bench = try SharedBench("a", faults: faults.hooks)
        let a = bench.hosts[0]
        let claims = try await bench.take(.all, for: a)
        faults.end(before: sql)
        let pause = StateChange.pauseStore(StoreName("db"), reason: "test", at: Self.start)
        #expect(await a.commit([pause], under: claims).isCommitted)
        #expect(try await bench.int("SELECT count(*) FROM pauses") == 1)
        #expect(try await a.rules().version == 2)
    }

    @Test func `a commit whose answer is lost is read, and not made twice`() async throws {
        let faults = StatementFaults()
        let bench = try SharedBench("a", faults: faults.hooks)
        let a = bench.hosts[0]
        let loaded = try await a.accept("u")
        let claims = try await bench.take(.all, for: a)
        faults.end(after: "COMMIT")
        #expect(await a.commit([loaded.beginsPurge], under: claims).isCommitted)
        #expect(try await bench.int("SELECT sum(count) FROM purge_log") == 1)
    }

    @Test func `without a server a commit is in doubt when a lease can have ended`() async throws {
        let outage = Outage()
        let bench = try SharedBench("a", faults: outage.hooks, uptime: outage.uptime)
        let a = bench.hosts[0]
        let claims = try await bench.take(.all, for: a)
        let pause = StateChange.pauseStore(StoreName("db"), reason: "test", at: Self.start)
        outage.begin()
        #expect(await a.commit([pause], under: claims).isInDoubt)
        outage.end()
        #expect(try await a.rules().pauses.stores.isEmpty)
        #expect(await a.commit([pause], under: claims).isCommitted)
    }

    @Test func `ends of hosts have places in the order of commits, and one ledger`() async throws {
        let bench = try SharedBench("a", "b", "c")
        for (host, number) in zip(bench.hosts, 0...) {
            let third = PartitionSet(Partition.all.filter { Int($0.number) % 3 == number })
            _ = try await bench.take(third, for: host)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<60 {
                let host = bench.hosts[index % 3]
                group.addTask {
                    let loaded = try await Self.patiently { try await host.accept("user \(index)") }
                    let owner = bench.hosts[Int(loaded.partition.number) % 3]
                    let claim = PartitionClaim(loaded.partition, epoch: 1)
                    let done = loaded.change { $0 = $0.completed() }
                    #expect(await owner.commit([done], under: [claim]).isCommitted)
                }
            }
            try await group.waitForAll()
        }
        #expect(try await bench.int("SELECT count(*) FROM requests WHERE ended_at > 0") == 60)
        #expect(try await bench.int("SELECT completed FROM totals") == 60)
        #expect(try await bench.int("SELECT count(DISTINCT end_sequence) FROM requests") == 60)
        #expect(try await bench.int("SELECT max(end_sequence) FROM requests") == 60)
        #expect(try await bench.int("SELECT count(*) FROM tombstones") == 60)
        let rows = try await bench.hosts[1].state.ledgerRows(from: 0)
        var size = 0
        for row in rows {
            #expect(row.first == size && row.leaves.count == row.count)
            size += row.count
        }
        #expect(size >= 120, "an acceptance and an end of each")
        // A later commit must not have a lower number: who reads on from one would miss it.
        let order = """
            SELECT count(*) FROM (
              SELECT sequence, lag(r.end_sequence) OVER (ORDER BY sequence) AS p,
                r.end_sequence AS e
              FROM tombstones t JOIN requests r ON r.id = t.request_id
            ) AS x
            WHERE p > e
            """
        #expect(try await bench.int(order) == 0)
    }

    /// A busy machine may keep a commit from its turn for long.
    private static func patiently<T>(_ body: () async throws -> T) async throws -> T {
        for _ in 0..<20 {
            do {
                return try await body()
            } catch let error as StorageError where error.isRetryable {
                continue
            }
        }
        return try await body()
    }

    @Test func `a user has one open deletion, whichever hosts accept it`() async throws {
        let bench = try SharedBench("a", "b")
        let ids = try await withThrowingTaskGroup(of: RequestID?.self) { group in
            for index in 0..<20 {
                group.addTask {
                    let outcome = try await Self.patiently {
                        try await bench.hosts[index % 2].state.accept(
                            [StateFixture.submission("u")],
                            policy: StateFixture.policy,
                            now: Self.start,
                            newID: { RequestID(StateFixture.newID()) }
                        )[0]
                    }
                    return switch outcome {
                    case .accepted(let loaded, _): loaded.request.id
                    case .same(let id): id
                    case .rejected, .unproven: nil
                    }
                }
            }
            return try await group.reduce(into: [RequestID?]()) { $0.append($1) }
        }
        #expect(Set(ids).count == 1 && ids.count == 20)
    }

    // MARK: The guard

    @Test func `the guard counts the purges of all hosts`() async throws {
        let bench = try SharedBench("a", "b", purgesPerHourMax: 2)
        let (a, b) = (bench.hosts[0], bench.hosts[1])
        let loaded = [
            try await a.accept("u"), try await a.accept("v"), try await a.accept("w"),
            try await a.accept("x"),
        ]
        let claims = try await bench.take(.all, for: a)
        func begin(_ indexes: Int..., override: Int? = nil) async -> CommitOutcome {
            let override = override.map { StateChange.useGuardOverride(purges: $0, at: Self.start) }
            return await a.commit(
                indexes.map { loaded[$0].beginsPurge } + [override].compactMap(\.self),
                under: claims
            )
        }
        #expect(await begin(0).isCommitted)
        #expect(try await b.renew([], rulesSeen: 1).purgesInLastHour == 1)
        let refused = await begin(1, 2)
        #expect(refused.refusal == CommitRefusal(purgesInLastHour: 1))
        #expect(try await bench.int("SELECT sum(count) FROM purge_log") == 1)
        #expect(await begin(1).isCommitted)
        #expect(await begin(2).refusal?.purgesInLastHour == 2)
        #expect(await begin(2, override: 1).refusal != nil, "there is no override")
        let before = try await b.rules().version
        try await b.state.addGuardOverride(
            count: 1,
            until: Self.start + .seconds(60),
            uid: 0,
            at: Self.start
        )
        #expect(try await a.rules().version == before + 1)
        #expect(try await a.rules().allowance?.purges == 1)
        #expect(await begin(2, override: 1).isCommitted)
        #expect(await begin(3, override: 1).refusal != nil, "another host has used it up")
        a.setPurgesPerHourMax(4)
        #expect(await begin(3).isCommitted)
    }

    // MARK: Rules

    @Test func `a hold is acknowledged when every owner obeys it`() async throws {
        let bench = try SharedBench("a", "b", "c")
        let (a, b, c) = (bench.hosts[0], bench.hosts[1], bench.hosts[2])
        let own = try await bench.take(.lower, for: a)
        let others = try await bench.take(.upper, for: b)
        _ = try await bench.renew(others, for: b)
        _ = try await bench.renew([], for: c)
        let hold = StoreHold(
            name: "case",
            store: StoreName("db"),
            rows: nil,
            reason: nil,
            since: Self.start,
            uid: 0
        )
        #expect(await a.commit([.placeHold(hold)], under: own).isCommitted)
        #expect(await b.commit([.placeHold(hold)], under: others).isCommitted, "placed once")
        let rules = try await b.rules()
        #expect(rules.version == 2 && rules.pauses.holds == [hold])
        #expect(try await bench.renew(own, for: a, rulesSeen: 2).rulesSeenByAll == 1)
        let view = try await bench.renew(others, for: b, rulesSeen: 2)
        #expect(view.rulesSeenByAll == 2, "c owns nothing")
    }

    @Test func `the end of a pause leaves a wake in every partition until owners end it`()
        async throws
    {
        let bench = try SharedBench("a", "b")
        let (a, b) = (bench.hosts[0], bench.hosts[1])
        let lower = try await bench.take(.lower, for: a)
        let provider = ProviderName("apple")
        let pause = StateChange.pauseProvider(provider, reason: "operator", at: Self.start)
        #expect(await a.commit([pause], under: lower).isCommitted)
        #expect(try await a.start(of: lower).allSatisfy { $0.unfinishedWakes.isEmpty })
        // An operator's call commits at any host.
        _ = try await b.state.commit([.resumeProvider(provider, at: Self.start)])
        let starts = try await a.start(of: lower)
        #expect(starts.count == 32)
        let reasons = Set(ParkReason.ofRevocations)
        #expect(starts.allSatisfy { Set($0.unfinishedWakes.keys) == reasons })
        #expect(starts.allSatisfy { $0.unfinishedWakes.values.allSatisfy { $0 == nil } })
        let wakes = reasons.map { StateChange.wake(parkedFor: $0, at: Self.start) }
        #expect(await a.commit(wakes, under: lower).isCommitted)
        #expect(try await a.start(of: lower).allSatisfy { $0.unfinishedWakes.isEmpty })
        let upper = try await bench.take(.upper, for: b)
        #expect(
            try await b.start(of: upper).allSatisfy { Set($0.unfinishedWakes.keys) == reasons }
        )
    }
}

/// A time without a server, in which each try takes a minute.
private final class Outage: Sendable {
    private let state = Mutex((isOn: false, uptime: Duration.zero))

    func begin() { state.withLock { $0.isOn = true } }
    func end() { state.withLock { $0.isOn = false } }

    var uptime: @Sendable () -> Duration { { self.state.withLock { $0.uptime } } }

    var hooks: PostgreSQLFaults {
        PostgreSQLFaults(
            before: { _ in self.state.withLock { $0.isOn } },
            connecting: {
                self.state.withLock { state in
                    if state.isOn { state.uptime += .seconds(60) }
                    return state.isOn
                }
            }
        )
    }

    @Test func `each host has a list of checkpoints and notes of its own`() async throws {
        let bench = try SharedBench("a", "b")
        let (a, b) = (bench.hosts[0].state, bench.hosts[1].state)
        for (state, note) in [(a, "first"), (b, "second"), (a, "third")] {
            try await state.saveCheckpoint(
                StoredCheckpoint(size: 1, note: note, endsAt: 9),
                nodes: []
            )
        }
        #expect(try await a.checkpoints(after: 0, limit: 9).map(\.note) == ["first", "third"])
        #expect(try await a.lastCheckpoint()?.id == 2)
        #expect(try await b.checkpoints(after: 0, limit: 9).map(\.note) == ["second"])
        #expect(try await b.lastCheckpoint()?.id == 1)
        try await a.setOwnNote("x", to: "1")
        try await a.setNote("y", to: "2")
        #expect(try await a.ownNote("x") == "1")
        #expect(try await b.ownNote("x") == nil)
        #expect(try await b.note("y") == "2")
    }
}
