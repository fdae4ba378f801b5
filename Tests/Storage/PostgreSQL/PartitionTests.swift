import Engine
import Lifecycle
import Synchronization
import Testing

@testable import Storage

@Suite("Leases of partitions")
struct PartitionTests {
    private static let insert = "INSERT INTO sign_ins VALUES (randomblob(16), 1)"

    @Test func `each partition has one owner, and what is released is free`() async throws {
        let bench = try SharedBench("a", "b")
        let (a, b) = (bench.hosts[0], bench.hosts[1])
        let first = try await bench.take(.lower, for: a)
        #expect(first.map(\.partition) == PartitionSet.lower.members)
        let second = try await b.acquire(.all)
        #expect(PartitionSet(second.map(\.partition)) == .upper)
        try bench.prolong()
        #expect(try await b.acquire(.all).isEmpty == false, "its own it takes again")
        try await a.release(first)
        let taken = try await b.acquire(.lower)
        #expect(taken.map(\.partition) == first.map(\.partition))
        #expect(taken.allSatisfy { $0.epoch == 2 })
        try await a.release(first)
        let hosts = try await a.hosts()
        #expect(hosts.isEmpty, "none has renewed")
    }

    @Test func `a renewal shows what a host may take, and for how long others keep theirs`()
        async throws
    {
        let bench = try SharedBench("a", "b")
        let (a, b) = (bench.hosts[0], bench.hosts[1])
        let alone = try await bench.renew([], for: a)
        #expect(alone.leases.free == .all && alone.leases.share == 64)
        #expect(alone.leases.nextExpiry == nil && alone.rulesVersion == 1)
        let own = try await bench.take(.lower, for: a)
        let seen = try await bench.renew([], for: b).leases
        #expect(seen.hostCount == 2)
        #expect(seen.rank == 1)
        #expect(seen.share == 32)
        #expect(seen.free == .upper)
        let expiry = try #require(seen.nextExpiry)
        #expect(expiry > .seconds(3000) && expiry <= .seconds(3600))
        let renewed = try await bench.renew(own, for: a).leases
        #expect(renewed.renewed == own && renewed.free == .upper)
        #expect(renewed.hostCount == 2 && renewed.rank == 0)
        let stale = own.map { PartitionClaim($0.partition, epoch: $0.epoch - 1) }
        let refused = try await bench.renew(stale, for: a).leases
        #expect(refused.renewed.isEmpty && refused.free == .all, "its own of before are free")
        let left = try await b.renew([], rulesSeen: 1).leases.nextExpiry
        #expect(left.map { $0 > .seconds(3000) } ?? false, "a renewal with an old epoch is none")
        let hosts = try await b.hosts()
        #expect(hosts.map(\.name) == ["a", "b"] && hosts[0].partitions == .lower)
        #expect(hosts[0].lastRenewal > WallTime(unixMilliseconds: 1_700_000_000_000))
        try await a.release(own)
        #expect(try await b.renew([], rulesSeen: 1).leases.hostCount == 1, "a has left")
    }

    @Test func `a host whose lease has ended commits nothing there, and the rest goes on`()
        async throws
    {
        let bench = try SharedBench("a", "b")
        let (a, b) = (bench.hosts[0], bench.hosts[1])
        let held = try await bench.take(PartitionSet(Partition.all.prefix(2)), for: a)
        _ = try await a.state.writer.perform(under: held) { try $0.run(Self.insert) }
        try bench.expire()
        let refused = await #expect(throws: StorageError.self) {
            _ = try await a.state.writer.perform(under: held) { try $0.run(Self.insert) }
        }
        #expect(refused?.kind == .lostPartition, "also before another host has taken it over")
        #expect(refused?.lostClaims == held)
        #expect(try await a.renew(held, rulesSeen: 1).leases.renewed.isEmpty)
        let taken = try await bench.take(PartitionSet([held[0].partition]), for: b)
        let results = await withTaskGroup(of: StorageError.Kind?.self) { group in
            for index in 0..<40 {
                group.addTask {
                    do {
                        let lease = index.isMultiple(of: 2) ? [held[0]] : []
                        _ = try await a.state.writer.perform(under: lease) {
                            try $0.run(Self.insert)
                        }
                        return nil
                    } catch {
                        return (error as? StorageError)?.kind
                    }
                }
            }
            return await group.reduce(into: [StorageError.Kind?]()) { $0.append($1) }
        }
        #expect(results.count { $0 == .lostPartition } == 20 && results.count { $0 == nil } == 20)
        _ = try await b.state.writer.perform(under: taken) { try $0.run(Self.insert) }
        #expect(try await bench.int("SELECT count(*) FROM sign_ins") == 22)
    }

    @Test func `a lost partition is refused also beside a mutation that fails`() async throws {
        let bench = try SharedBench("a")
        let a = bench.hosts[0]
        let held = try await a.acquire(PartitionSet(Partition.all.prefix(1)))
        try bench.expire()
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<30 {
                group.addTask {
                    _ = await #expect(throws: StorageError.self) {
                        let sql = index.isMultiple(of: 2) ? Self.insert : "INSERT INTO nothing"
                        _ = try await a.state.writer.perform(
                            under: index.isMultiple(of: 2) ? held : []
                        ) { try $0.run(sql) }
                    }
                }
            }
        }
        #expect(try await bench.int("SELECT count(*) FROM sign_ins") == 0)
    }

    @Test func `a takeover waits for a commit under way, and a renewal does not`() async throws {
        let bench = try SharedBench("a", "b")
        let (a, b) = (bench.hosts[0], bench.hosts[1])
        let first = PartitionSet(Partition.all.prefix(1))
        let held = try await bench.take(first, for: a)
        try await a.state.writer.perform(under: held) { [server = bench.server] connection in
            // The server is not to end the transaction, however long the rest takes.
            try connection.run("SET LOCAL idle_in_transaction_session_timeout = 0")
            let other = PostgreSQLConnection(server.plan(schema: bench.schema))
            try other.connect()
            #expect(try PartitionTable(connection: other, host: "a").renew(held) == held)
            try bench.expire()
            let taken = try PartitionTable(connection: other, host: "b").acquire(first)
            #expect(taken.claims.isEmpty)
            try connection.run(Self.insert)
        }
        let taken = try await b.acquire(first)
        #expect(taken.map(\.epoch) == [2])
        #expect(try await bench.int("SELECT count(*) FROM sign_ins") == 1)
    }

    @Test func `users are spread over all partitions`() {
        var found: Set<Partition> = []
        for index in 0..<2000 { found.insert(Partition(userHash: StateFixture.hash("u\(index)"))) }
        #expect(found.count == Partition.count)
    }

    @Test func `the partition of a request is that of its user`() async throws {
        let bench = try SharedBench("a")
        let opened = try await bench.hosts[0].accept("alice")
        #expect(
            try await bench.int("SELECT partition FROM requests") == Int(opened.partition.number)
        )
    }

    @Test func `a host that is to be alone takes nothing beside another, and names it`()
        async throws
    {
        let bench = try SharedBench("b", "c", isAlone: true)
        let (b, c) = (bench.hosts[0], bench.hosts[1])
        #expect(try await bench.renew([], for: b).leases.free == .all)
        let own = try await bench.take(.all, for: b)
        await #expect(throws: StorageError.self) { try await c.renew([], rulesSeen: 1) }
        for await end in c.ends {
            #expect(end == .others(["b"]))
            break
        }
        #expect(try await bench.renew(own, for: b).leases.hostCount == 1, "c is not counted")
        // Once b has lost its leases to c, it is c's turn.
        try bench.expire()
        let taken = try await bench.take(.all, for: c)
        #expect(taken.count == Partition.count)
        await #expect(throws: StorageError.self) { try await b.renew(own, rulesSeen: 1) }
    }

    @Test func `a host ends when another one finds that commits are lost`() async throws {
        let bench = try SharedBench("b")
        let b = bench.hosts[0]
        let own = try await bench.take(.all, for: b)
        try await b.state.writer.perform { try $0.setFact(StateDatabase.lostCommits, to: "1") }
        let error = await #expect(throws: StorageError.self) {
            try await b.renew(own, rulesSeen: 1)
        }
        #expect(error?.kind == .commitFailed)
        for await end in b.ends {
            #expect(end == .lostCommits)
            break
        }
        // One that begins with it purges nothing, and goes on.
        let next = try bench.restart("b", isOwnCrash: false)
        _ = try await next.renew([], rulesSeen: 1)
        try await next.state.acceptLostCommits()
        _ = try await next.renew([], rulesSeen: 1)
        try await next.state.writer.perform { try $0.setFact(StateDatabase.lostCommits, to: "1") }
        await #expect(throws: StorageError.self) { try await next.renew([], rulesSeen: 1) }
        try await next.close()
    }

    @Test func `a name under which another machine works is refused`() async throws {
        let bench = try SharedBench("b")
        let own = try await bench.take(.all, for: bench.hosts[0])
        _ = try await bench.renew(own, for: bench.hosts[0])
        // Renewals never look old, however slowly one follows the other.
        let renewal = "UPDATE hosts SET renewed_at = clock_timestamp() + interval '1 h'"
        try bench.server.run(renewal, in: bench.schema)
        // Not a task: the start of a host holds a thread of theirs meanwhile.
        let isOver = Flag()
        let renewing = PostgreSQLLane("renewing", ())
        renewing.enqueue { _ in
            while !isOver.value.load(ordering: .relaxed) {
                do {
                    try bench.server.run(renewal, in: bench.schema)
                } catch {
                    Issue.record(error)
                }
            }
        }
        let refused = #expect(throws: StorageError.self) {
            try bench.restart("b", isOwnCrash: false)
        }
        isOver.value.store(true, ordering: .relaxed)
        // Its last renewal may still be under way.
        try renewing.run { _ in }
        #expect(refused?.kind == .inUse && refused?.cause?.contains("'b'") == true)
        // A process that died renews no more; the end of its last lease is waited for.
        try bench.server.run("UPDATE hosts SET renewed_at = clock_timestamp()", in: bench.schema)
        let next = try bench.restart("b", isOwnCrash: true)
        #expect(try await next.acquire(.all).count == Partition.count)
    }

    @Test func `a credential that any host stores is announced to the owner in the same commit`()
        async throws
    {
        let bench = try SharedBench("b", "c")
        let (b, c) = (bench.hosts[0], bench.hosts[1])
        _ = try await bench.take(.all, for: c)
        _ = try await b.accept("ann")
        let partition = Partition(userHash: StateFixture.hash("ann"))
        let kept = try await b.keep(StateFixture.credential("ann", "token"))
        let inbox = try await c.inbox(of: PartitionSet([partition]))
        let expected = OperationRow.Work.learn(kept.identity, of: StateFixture.hash("ann"))
        #expect(try inbox.operations.map { try $0.work.columnText } == [expected.columnText])
        // Nobody waits for what is stored without an open request.
        _ = try await b.keep(StateFixture.credential("bob", "other"))
        #expect(try await bench.int("SELECT count(*) FROM operations") == 1)
    }

    @Test func `a host that obeys older rules takes nothing`() async throws {
        let bench = try SharedBench("b")
        let b = bench.hosts[0]
        _ = try await bench.renew([], for: b, rulesSeen: 1)
        try bench.server.run("UPDATE rules SET version = 2", in: bench.schema)
        #expect(try await b.acquire(.all).isEmpty)
        _ = try await bench.renew([], for: b, rulesSeen: 2)
        #expect(try await b.acquire(.all).count == Partition.count)
    }

    @Test func `what a steward writes after its claim was lost is not written`() async throws {
        let bench = try SharedBench("b", "c")
        let (b, c) = (bench.hosts[0], bench.hosts[1])
        let own = try await bench.take(.all, for: b)
            .filter { $0.partition == Stewardship.partition }
        try await WriteTerms.$claims.withValue(own) {
            try await b.state.setNote("by", to: "b")
        }
        try bench.expire()
        let taken = try await c.acquire(.all)
        #expect(taken.count == Partition.count)
        let refused = await #expect(throws: StorageError.self) {
            try await WriteTerms.$claims.withValue(own) {
                try await b.state.setNote("by", to: "b, late")
            }
        }
        #expect(refused?.kind == .lostPartition)
        #expect(try await c.state.note("by") == "b")
        // Without terms every host writes.
        try await b.state.setNote("by", to: "b, in its own name")
        #expect(try await c.state.note("by") == "b, in its own name")
    }
}

private final class Flag: Sendable {
    let value = Atomic(false)
}
