import Engine
import Lifecycle
import Testing

@testable import Storage

@Suite("What owners of partitions find")
struct SharedWorkTests {
    private static let start = SharedBench.start

    private static func due(
        _ host: SharedDatabase,
        in partitions: PartitionSet
    ) async throws -> Set<RequestID> {
        let due = try await host.dueRequests(
            at: start + .seconds(1),
            limit: 100,
            excluding: [],
            laneLimits: [:],
            in: partitions
        )
        return Set(due.requests.map(\.request.id))
    }

    @Test func `due work is that of the partitions that are asked for`() async throws {
        let bench = try SharedBench("a")
        let a = bench.hosts[0]
        var loaded: [LoadedRequest] = []
        for index in 0..<20 { loaded.append(try await a.accept("user \(index)")) }
        #expect(try await Self.due(a, in: .all) == Set(loaded.map(\.request.id)))
        let lower = loaded.filter { PartitionSet.lower.contains($0.partition) }
        #expect(!lower.isEmpty && lower.count < 20)
        #expect(try await Self.due(a, in: .lower) == Set(lower.map(\.request.id)))
        #expect(try await Self.due(a, in: .none).isEmpty)
    }

    @Test func `a wake makes due what waits in the claimed partitions`() async throws {
        let bench = try SharedBench("a", "b")
        let a = bench.hosts[0]
        let claims = try await bench.take(.all, for: a)
        var parked: [LoadedRequest] = []
        for index in 0..<20 {
            let loaded = try await a.accept("user \(index)")
            let change = loaded.change {
                $0.phase = .parked(.purging, .storePaused, until: nil)
                $0.dueAt = nil
            }
            #expect(await a.commit([change], under: claims).isCommitted)
            parked.append(loaded)
        }
        #expect(try await Self.due(a, in: .all).isEmpty)
        let lower = claims.filter { PartitionSet.lower.contains($0.partition) }
        let wake = StateChange.wake(parkedFor: .storePaused, at: Self.start)
        #expect(await a.commit([wake], under: lower).isCommitted)
        let woken = parked.filter { PartitionSet.lower.contains($0.partition) }
        #expect(try await Self.due(a, in: .all) == Set(woken.map(\.request.id)))
    }

    @Test func `a jump of the clock corrects what is in the claimed partitions`() async throws {
        let bench = try SharedBench("a")
        let a = bench.hosts[0]
        for index in 0..<20 { _ = try await a.accept("user \(index)") }
        let claims = try await bench.take(.all, for: a)
        let lower = claims.filter { PartitionSet.lower.contains($0.partition) }
        let step = ClockStep(
            from: Self.start - .seconds(60),
            to: Self.start + .seconds(60),
            by: .seconds(3600)
        )
        let change = StateChange.reclock(step, at: Self.start + .seconds(3600))
        #expect(await a.commit([change], under: lower).isCommitted)
        let moved = """
            SELECT count(*) FROM requests
            WHERE (accepted_at > \(Self.start.unixMilliseconds)) <> (partition < 32)
            """
        #expect(try await bench.int(moved) == 0)
        #expect(try await bench.int("SELECT count(DISTINCT accepted_at) FROM requests") == 2)
    }

    @Test func `a start makes due what waited for the last host, and what that host had parked`()
        async throws
    {
        let bench = try SharedBench("a", "b")
        let (a, b) = (bench.hosts[0], bench.hosts[1])
        let claims = try await bench.take(.all, for: a)
        func park(_ user: String, _ reason: ParkReason) async throws -> LoadedRequest {
            let loaded = try await a.accept(user)
            let change = loaded.change {
                $0.phase = .parked(.revoking, reason, until: nil)
                $0.dueAt = nil
            }
            #expect(await a.commit([change], under: claims).isCommitted)
            return loaded
        }
        let sealed = try await park("u", .vaultSealed)
        _ = try await park("v", .storePaused)
        let waiting = try await a.accept("w")
        let change = waiting.change {
            $0.phase = .open(.revoking)
            $0.dueAt = nil
            $0.purges[0].isBusy = true
        }
        #expect(await a.commit([change], under: claims).isCommitted)
        #expect(try await Self.due(a, in: .all).isEmpty)
        try bench.expire()
        let taken = try await bench.take(.all, for: b)
        let starts = try await b.start(of: taken)
        #expect(starts.map(\.claim) == taken && starts.allSatisfy { $0.suspects.isEmpty })
        #expect(try await Self.due(b, in: .all) == [sealed.request.id, waiting.request.id])
        #expect(try await bench.int("SELECT count(*) FROM requests WHERE is_active = 1") == 0)
        #expect(try await bench.int("SELECT max(crash_count) FROM requests") == 0)
    }

    @Test func `a start leaves out claims that are lost by then`() async throws {
        let bench = try SharedBench("a", "b")
        let claims = try await bench.take(.all, for: bench.hosts[0])
        try bench.expire()
        _ = try await bench.hosts[1].acquire(.lower)
        try bench.prolong()
        let starts = try await bench.hosts[0].start(of: claims)
        #expect(PartitionSet(starts.map(\.claim.partition)) == .upper)
    }

    @Test(arguments: [true, false])
    func `a crash counts once, against what was worked on, when the host restarts in its leases`(
        _ isOwnCrash: Bool
    ) async throws {
        let bench = try SharedBench("a")
        let a = bench.hosts[0]
        let loaded = try await a.accept("u")
        _ = try await a.accept("v")
        let claims = try await bench.take(.all, for: a)
        let change = loaded.change { $0.purges[0].isBusy = true }
        #expect(await a.commit([change], under: claims).isCommitted)
        let next = try bench.restart("a", isOwnCrash: isOwnCrash)
        let again = try await bench.take(.all, for: next)
        let starts = try await next.start(of: again)
        let suspects = starts.flatMap(\.suspects)
        #expect(suspects == (isOwnCrash ? [loaded.request.id] : []))
        let place = starts.first { !$0.suspects.isEmpty }?.claim.partition
        #expect(place == (isOwnCrash ? loaded.partition : nil))
        // A later epoch of the same process is no crash.
        let known = try #require(try await next.openRequests([loaded.request.id]).first)
        let busy = known.change { $0.purges[0].isBusy = true }
        #expect(await next.commit([busy], under: again).isCommitted)
        let later = try await bench.take(.all, for: next)
        _ = try await next.start(of: later)
        let count = try await bench.int("SELECT max(crash_count) FROM requests")
        #expect(count == (isOwnCrash ? 1 : 0))
        let refused = await a.commit([change], under: claims)
        #expect(!refused.isCommitted, "the earlier process is shut out")
    }

    @Test func `codes are found by the owner of their user`() async throws {
        let bench = try SharedBench("a", "b")
        let (a, b) = (bench.hosts[0], bench.hosts[1])
        for index in 0..<10 {
            _ = try await b.keep(
                StateFixture.credential("u\(index)", "code \(index)", kind: .authorizationCode)
            )
        }
        let lower = try await bench.take(.lower, for: a)
        let found = try await a.inbox(of: .lower).exchanges
        #expect(!found.isEmpty && found.count < 10)
        #expect(found.allSatisfy { PartitionSet.lower.contains($0.partition) })
        let started = try await a.start(of: lower)
        for start in started {
            #expect(start.exchanges.allSatisfy { $0.partition == start.claim.partition })
        }
        #expect(Set(started.flatMap(\.exchanges)) == Set(found))
    }
}
