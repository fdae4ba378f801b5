import Engine
import GRDB
import Lifecycle
import Synchronization
import Testing

@testable import Storage

@Suite("Reads of the spool that a request waits for", .timeLimit(.minutes(5)))
struct SpoolBarrierTests {
    @Test("what was committed before the question is taken before the answer")
    func takesEverything() async throws {
        let spool = try SpoolFixture()
        let taker = SpoolTaker()
        let service = spool.service(taker, SpoolMirrorBox(), SpoolHealthLog())
        try await running(service) {
            for number in 0..<20 {
                try spool.store("u\(number)", secret: "s\(number)")
                #expect(await service.readToEnd() == .read)
                #expect(taker.secrets.contains("s\(number)"))
            }
        }
    }

    @Test("credentials that are submitted faster than they are taken are not waited for")
    func bounded() async throws {
        let spool = try SpoolFixture()
        let count = Mutex(0)
        let countMax = 20_000
        @Sendable func flood(_ rows: Int) throws {
            try spool.execute(
                """
                WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < \(rows))
                INSERT INTO credentials (user_id, provider, kind, secret)
                SELECT 'flood', 'apple', 'refresh_token', 's' || i FROM c
                """
            )
        }
        let taker = SpoolTaker(judge: { credential in
            let number = count.withLock { count in
                count += 1
                return count
            }
            guard number % 50 == 1, number < countMax else { return .sealed }
            do {
                try flood(60)
            } catch {
                Issue.record("the flood ended")
            }
            return .sealed
        })
        try flood(200)
        try spool.store("last", secret: "before the question")
        let (asked, ask) = AsyncStream<Void>.makeStream()
        let intake = LateIntake(inner: taker, asked: asked)
        let service = spool.service(intake, SpoolMirrorBox(), SpoolHealthLog())
        try await running(service) {
            // As `readToEnd()`; the flood begins once the question is noted.
            let outcome = await service.barrier.wait {
                service.poke()
                ask.finish()
            }
            #expect(outcome == .read)
            #expect(count.withLock { $0 } < countMax, "the flood goes on")
            #expect(taker.secrets.contains("before the question"))
        }
    }

    @Test("a lock that ends is waited out, whoever holds it")
    func waitsForLock() async throws {
        let spool = try SpoolFixture()
        let taker = SpoolTaker()
        let (clock, rests) = SpoolClock.telling()
        let service = spool.service(taker, SpoolMirrorBox(), SpoolHealthLog(), clock: clock)
        try await running(service) {
            #expect(await service.readToEnd() == .read)
            try spool.execute("BEGIN EXCLUSIVE")
            try spool.execute(
                """
                INSERT INTO credentials (user_id, provider, kind, secret)
                VALUES ('u', 'apple', 'refresh_token', 's')
                """
            )
            async let outcome = service.readToEnd()
            // Most rests follow a try.
            await rests.wait(for: 20)
            #expect(taker.secrets.isEmpty)
            try spool.execute("COMMIT")
            #expect(await outcome == .read)
            #expect(taker.secrets == ["s"])
        }
    }

    @Test("the end of a lock that wrote nothing is found, however long it was held")
    func findsRelease() async throws {
        let spool = try SpoolFixture()
        let health = SpoolHealthLog()
        let service = SpoolService(
            path: spool.path,
            ports: SpoolService.Ports(
                intake: SpoolTaker(),
                source: SpoolMirrorBox(),
                hasher: SpoolHasher(),
                clock: .system(),
                report: { health.add($0) }
            ),
            sweepInterval: .seconds(3600),
            lockedAfter: .milliseconds(20)
        )
        try await running(service) {
            #expect(await service.readToEnd() == .read)
            try spool.execute("BEGIN EXCLUSIVE")
            async let outcome = service.readToEnd()
            await health.wait(for: .quarantined(.locked))
            try spool.execute("ROLLBACK")
            #expect(await outcome == .read)
        }
    }

    @Test("a lock is waited for a minute, and what it hid is taken at its end")
    func givesUpLock() async throws {
        let spool = try SpoolFixture()
        let taker = SpoolTaker()
        let elapsed = Mutex(Duration.zero)
        let clock = SpoolClock(
            uptime: { elapsed.withLock { $0 } },
            rest: { pause in
                try Task.checkCancellation()
                // Beside the attempts a task rests for the whole patience: it would end it at once.
                guard pause < SpoolLimits.unreadablePatience else { return }
                elapsed.withLock { $0 += pause }
            }
        )
        let service = spool.service(
            taker,
            SpoolMirrorBox(),
            SpoolHealthLog(),
            clock: clock,
            lockedAfter: .seconds(5)
        )
        try await running(service) {
            #expect(await service.readToEnd() == .read)
            try spool.execute("BEGIN EXCLUSIVE")
            try spool.execute(
                """
                INSERT INTO credentials (user_id, provider, kind, secret)
                VALUES ('u', 'apple', 'refresh_token', 's')
                """
            )
            let before = elapsed.withLock { $0 }
            #expect(await service.readToEnd() == .unreadable)
            #expect(elapsed.withLock { $0 } - before >= SpoolLimits.unreadablePatience)
            #expect(await service.readToEnd() == .unreadable)
            #expect(taker.secrets.isEmpty)
            try spool.execute("COMMIT")
            #expect(await service.readToEnd() == .read)
            #expect(taker.secrets == ["s"])
        }
    }

    @Test("an attempt that failed answers no question that came after it began")
    func answersEarlierQuestions() async throws {
        let seconds = Mutex(0)
        let clock = SpoolClock(uptime: { .seconds(seconds.withLock { $0 }) }, rest: { _ in })
        let spool = try SpoolFixture()
        let service = spool.service(SpoolTaker(), SpoolMirrorBox(), SpoolHealthLog(), clock: clock)
        service.monitor.quarantine(.locked)
        service.giveUpUnreadable(service.barrier.mark)
        seconds.withLock { $0 = 60 }
        let begun = service.barrier.mark
        let later = await service.barrier.wait {
            service.giveUpUnreadable(begun)
            service.barrier.pass(service.barrier.mark, .read)
        }
        #expect(later == .read)
        let earlier = await service.barrier.wait {
            service.giveUpUnreadable(service.barrier.mark)
            service.barrier.pass(service.barrier.mark, .read)
        }
        #expect(earlier == .unreadable)
    }

    @Test("a damaged file is waited for a minute, and then gone on without, although none sweeps")
    func givesUp() async throws {
        let spool = try SpoolFixture()
        try spool.application.close()
        try SpoolFixture.patch(spool.path, at: 0, Array("not a database at all".utf8))
        let seconds = Mutex(0)
        let clock = SpoolClock(
            uptime: { .seconds(seconds.withLock { $0 }) },
            rest: { pause in
                try Task.checkCancellation()
                seconds.withLock { $0 += Int(pause.components.seconds) }
            }
        )
        let service = SpoolService(
            path: spool.path,
            ports: SpoolService.Ports(
                intake: SpoolTaker(),
                source: SpoolMirrorBox(),
                hasher: SpoolHasher(),
                clock: clock,
                report: { _ in }
            ),
            sweepInterval: .seconds(3600)
        )
        try await running(service) {
            #expect(await service.readToEnd() == .unreadable)
            #expect(seconds.withLock { $0 } >= 60)
        }
        #expect(await service.readToEnd() == .stopped)
    }

    @Test("postponed rows are offered again soon, without a sweep")
    func offeredAgain() async throws {
        let spool = try SpoolFixture()
        let tries = Mutex(0)
        let taker = SpoolTaker { _ in
            tries.withLock { tries in
                tries += 1
                return tries < 3 ? .postponed : .sealed
            }
        }
        try spool.store("u", secret: "s")
        let service = SpoolService(
            path: spool.path,
            ports: SpoolService.Ports(
                intake: taker,
                source: SpoolMirrorBox(),
                hasher: SpoolHasher(),
                clock: SpoolClock(
                    uptime: SpoolClock.system().uptime,
                    rest: { _ in try await SpoolClock.system().rest(.milliseconds(1)) }
                ),
                report: { _ in }
            ),
            sweepInterval: .seconds(3600)
        )
        try await running(service) {
            while try spool.text("SELECT state FROM credentials") != "sealed" {
                try await SpoolClock.system().rest(.milliseconds(5))
            }
        }
        #expect(tries.withLock { $0 } == 3)
    }
}

/// Takes nothing before somebody has asked.
private struct LateIntake: SpoolIntake {
    let inner: SpoolTaker
    let asked: AsyncStream<Void>

    func take(_ batch: SpoolBatch) async throws -> SpoolReceipts {
        for await _ in asked {}
        return try await inner.take(batch)
    }
}
