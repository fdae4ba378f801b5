import Engine
import FoundationEssentials
import GRDB
import Glibc
import Lifecycle
import Synchronization
import TestSupport
import Testing

@testable import Storage

@Suite("The spool in service", .timeLimit(.minutes(5))) struct SpoolServiceTests {
    @Test("a row becomes a request once, also when the service starts again before it was shown")
    func exactlyOnce() async throws {
        let spool = try SpoolFixture()
        let state = try StateFixture()
        let health = SpoolHealthLog()
        try spool.submit("u1", key: "k1")
        try spool.store("u1", secret: "code")
        // A mirror that shows nothing, like a crash before the first write-back.
        let taker = SpoolCountingIntake(SpoolStateIntake(state: state.database))
        try await running(spool.service(taker, SpoolMirrorBox(), health)) {
            await taker.wait(for: 1)
        }
        #expect(try spool.text("SELECT state FROM requests") == "submitted")
        let again = SpoolCountingIntake(SpoolStateIntake(state: state.database))
        let source = SpoolCountingSource(state.database)
        try await running(spool.service(again, source, health)) { await source.waitForConfirmed(1) }
        #expect(try await state.int("SELECT count(*) FROM requests") == 1)
        #expect(try await state.int("SELECT count(*) FROM credentials") == 1)
        #expect(try spool.text("SELECT state FROM requests") == "accepted")
        #expect(try spool.text("SELECT state || ifnull(secret, '-') FROM credentials") == "sealed-")
        #expect(health.all == [])
    }

    @Test("a malformed row is shown as rejected, its neighbours as accepted")
    func rejection() async throws {
        let spool = try SpoolFixture()
        let state = try StateFixture()
        try spool.submit("u1")
        try spool.submit("u2", options: #"{"color": 1}"#)
        try spool.store("u3", secret: nil)
        let source = SpoolCountingSource(state.database)
        let intake = SpoolStateIntake(state: state.database)
        try await running(spool.service(intake, source, SpoolHealthLog())) {
            await source.waitForConfirmed(2)
        }
        #expect(
            try spool.text("SELECT group_concat(state || ifnull(detail, '')) FROM requests")
                == "accepted,rejectedunknown_option"
        )
        #expect(
            try spool.text("SELECT state || detail FROM credentials") == "rejectedmissing_secret"
        )
    }

    @Test("a state that fails for a moment is shown afterwards, though nothing changes any more")
    func failingState() async throws {
        let spool = try SpoolFixture()
        let state = try StateFixture()
        try spool.submit("u1")
        let source = SpoolCountingSource(state.database, failures: 2)
        let intake = SpoolStateIntake(state: state.database)
        try await running(spool.service(intake, source, SpoolHealthLog())) {
            await source.waitForConfirmed(1)
        }
        #expect(try spool.text("SELECT state FROM requests") == "accepted")
    }

    @Test("two rows of one deletion both show it")
    func joined() async throws {
        let spool = try SpoolFixture()
        let state = try StateFixture()
        try spool.submit("u1")
        try spool.submit("u1")
        let source = SpoolCountingSource(state.database)
        let intake = SpoolStateIntake(state: state.database)
        try await running(spool.service(intake, source, SpoolHealthLog())) {
            await source.waitForConfirmed(2)
        }
        #expect(try spool.int("SELECT count(DISTINCT request_id) FROM requests") == 1)
        #expect(try spool.int("SELECT count(*) FROM requests WHERE state = 'accepted'") == 2)
    }

    @Test("a restored spool shows again what was done, and a recreated row is a new request")
    func restored() async throws {
        let spool = try SpoolFixture()
        let state = try StateFixture()
        let health = SpoolHealthLog()
        let source = SpoolCountingSource(state.database)
        let old = spool.directory + "/old.db"
        try spool.submit("u1")
        try spool.copy(to: old)
        try spool.submit("u2")
        let intake = SpoolStateIntake(state: state.database)
        try await running(spool.service(intake, source, health)) {
            await source.waitForConfirmed(2)
            let backup = try SpoolFixture.open(old)
            try await backup.write {
                try $0.execute(
                    sql: "INSERT INTO requests (kind, user_id) VALUES ('delete_account', 'other')"
                )
            }
            try backup.close()
            try spool.application.close()
            try #require(unsafe rename(old, spool.path) == 0)
            await health.wait(for: .recreatedRows(count: 1))
            await source.waitForConfirmed(4)
        }
        let again = try SpoolFixture.open(spool.path)
        let states = try await again.read {
            try String.fetchAll($0, sql: "SELECT user_id || state FROM requests ORDER BY id")
        }
        #expect(states == ["u1accepted", "otheraccepted"])
        #expect(try await state.int("SELECT count(*) FROM requests") == 3)
        #expect(health.all == [.replaced(isSameSpool: true), .recreatedRows(count: 1)])
    }

    @Test("what was not taken is offered again, and nothing is scrubbed before")
    func failingIntake() async throws {
        let spool = try SpoolFixture()
        let taker = SpoolTaker(failures: 2)
        try spool.store("u", secret: "s")
        try await running(spool.service(taker, SpoolMirrorBox(), SpoolHealthLog())) {
            await taker.wait(for: 1)
        }
        #expect(taker.secrets == ["s"])
        #expect(try spool.text("SELECT state FROM credentials") == "sealed")
    }

    @Test("a postponed credential keeps its secret and comes again")
    func postponed() async throws {
        let spool = try SpoolFixture()
        let isOpen = Mutex(false)
        let taker = SpoolTaker { _ in isOpen.withLock { $0 } ? .sealed : .postponed }
        try spool.store("u", secret: "s")
        try await running(spool.service(taker, SpoolMirrorBox(), SpoolHealthLog())) {
            await taker.wait(for: 1)
            #expect(try spool.text("SELECT secret FROM credentials") == "s")
            isOpen.withLock { $0 = true }
            while try spool.text("SELECT state FROM credentials") != "sealed" {
                try await SpoolClock.system().rest(.milliseconds(5))
            }
        }
    }

    @Test("a paused service takes nothing until it goes on")
    func paused() async throws {
        let spool = try SpoolFixture()
        let taker = SpoolTaker()
        let service = spool.service(taker, SpoolMirrorBox(), SpoolHealthLog())
        service.setPaused(true)
        try spool.submit("u1")
        try await running(service) {
            #expect(await service.readToEnd() == .read)
            #expect(taker.users.isEmpty)
            service.setPaused(false)
            await taker.wait(for: 1)
        }
    }

    @Test("a paused service takes credentials, and the requests of meanwhile when it goes on")
    func pausedWithCredentials() async throws {
        let spool = try SpoolFixture()
        let taker = SpoolTaker()
        let service = spool.service(
            taker,
            SpoolMirrorBox(),
            SpoolHealthLog(),
            sweepInterval: .seconds(3600)
        )
        service.setPaused(true)
        try spool.submit("u1")
        try spool.store("u1", secret: "before")
        try await running(service) {
            await taker.wait(for: 1)
            #expect(await service.readToEnd() == .read, "a deletion that waits for it goes on")
            try spool.submit("u2")
            try spool.store("u2", secret: "after")
            #expect(await service.readToEnd() == .read)
            #expect(taker.secrets == ["before", "after"])
            #expect(taker.users.isEmpty)
            service.setPaused(false)
            await taker.wait(for: 4)
            #expect(taker.users == ["u1", "u2"])
            try spool.submit("u3")
            await taker.wait(for: 5)
        }
        #expect(taker.users == ["u1", "u2", "u3"], "each is taken once")
    }

    @Test(
        "from the application's commit to the intake it takes less than 20 ms",
        .enabled(if: Bars.areHeld, "a bar: make bars")
    )
    func latency() async throws {
        let spool = try SpoolFixture()
        let taker = SpoolTaker()
        var samples: [Duration] = []
        try await running(
            spool.service(taker, SpoolMirrorBox(), SpoolHealthLog(), sweepInterval: .seconds(30))
        ) {
            for index in 0..<40 {
                try await SpoolClock.system().rest(.milliseconds(10))
                try spool.submit("u\(index)")
                let committed = ContinuousClock.now
                await taker.wait(for: index + 1)
                let taken = try #require(taker.state.withLock { $0.takenAt.last })
                samples.append(committed.duration(to: taken))
            }
        }
        samples.sort()
        // The goal is 2 ms, by another measure (docs/guides/spool.md).
        #expect(samples[20] < .milliseconds(20), "median \(samples[20]), p95 \(samples[38])")
        print("spool latency: median \(samples[20]), p95 \(samples[38])")
    }

    @Test("the mirror makes at most four commits a second, and our own commits bring no rows")
    func mirrorPace() async throws {
        let spool = try SpoolFixture()
        let state = try StateFixture()
        let intake = SpoolCountingIntake(SpoolStateIntake(state: state.database))
        let source = SpoolCountingSource(state.database)
        let service = spool.service(intake, source, SpoolHealthLog(), sweepInterval: .seconds(3600))
        let start = ContinuousClock.now
        try await running(service) {
            try spool.submit("u1")
            await source.waitForConfirmed(1)
            for index in 0..<4 {
                try await state.execute(
                    "UPDATE requests SET revision = revision + 1, updated_at = updated_at + 1"
                )
                service.signal()
                await source.waitForConfirmed(2 + index)
            }
        }
        // The fifth commit comes a second after the first one.
        #expect(start.duration(to: .now) >= .seconds(1))
        // The schema, the row, and five states; a state that changes nothing would not even be
        // written.
        #expect(try spool.commitCount() == 7)
        #expect(intake.count == 1)
    }

    @Test(
        "a writer never waits 250 ms for us, whatever we import and mirror (I-36)",
        .timeLimit(.minutes(10))
    )
    func concurrentWriter() async throws {
        // A disk that others keep busy lets a writer wait, too.
        let spool = try SpoolFixture(inMemory: true)
        let state = try StateFixture()
        let source = SpoolCountingSource(state.database)
        let intake = SpoolCountingIntake(SpoolStateIntake(state: state.database))
        try spool.execute(
            """
            WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 5000)
            INSERT INTO requests (kind, user_id) SELECT 'delete_account', 'u' || i FROM c
            """
        )
        let accepted = "SELECT count(*) FROM requests WHERE state = 'accepted'"
        var longest = Duration.zero
        var writes = 0
        try await running(spool.service(intake, source, SpoolHealthLog())) {
            // A row that a sweep meets before it is shown is confirmed twice.
            while try !writes.isMultiple(of: 50) || spool.int(accepted) < 5000 {
                let start = ContinuousClock.now
                try spool.store("w\(writes)", secret: "s\(writes)", kind: "refresh_token")
                longest = max(longest, start.duration(to: .now))
                writes += 1
                try await SpoolClock.system().rest(.milliseconds(2))
            }
        }
        print("spool writer: \(writes) writes, longest \(longest)")
        if Bars.areHeld { #expect(longest < .milliseconds(250)) }
    }
}

/// Counts and passes on.
final class SpoolCountingIntake: SpoolIntake {
    private let inner: any SpoolIntake
    private let taken = Mutex(0)
    private let (stream, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .unbounded)

    init(_ inner: any SpoolIntake) { self.inner = inner }

    var count: Int { taken.withLock { $0 } }

    func take(_ batch: SpoolBatch) async throws -> SpoolReceipts {
        let receipts = try await inner.take(batch)
        taken.withLock { $0 += 1 }
        signal.yield()
        return receipts
    }

    func wait(for count: Int) async {
        if self.count >= count { return }
        for await _ in stream where self.count >= count { return }
    }
}

/// The state's mirror rows; counts what was confirmed.
final class SpoolCountingSource: SpoolMirrorSource {
    private let inner: StateDatabase
    private let confirmed = Mutex(0)
    /// Calls that fail from now on: the last ones after which no change comes.
    private let failures: Mutex<Int>
    private let (stream, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .unbounded)

    init(_ inner: StateDatabase, failures: Int = 0) {
        self.inner = inner
        self.failures = Mutex(failures)
    }

    var confirmedCount: Int { confirmed.withLock { $0 } }

    var isQuiet: Bool { inner.isQuiet }

    private func fail() throws {
        let fails = failures.withLock { count in
            defer { count = max(0, count - 1) }
            return count > 0
        }
        if fails { throw StorageError(.busy, "read the state", at: "a test") }
    }

    func spoolMirrorRows(limit: Int) async throws -> [MirrorRow] {
        let rows = try await inner.spoolMirrorRows(limit: limit)
        if !rows.isEmpty { try fail() }
        return rows
    }

    func confirmMirrored(_ rows: [MirrorRow]) async throws {
        try fail()
        try await inner.confirmMirrored(rows)
        confirmed.withLock { $0 += rows.count }
        signal.yield()
    }

    func mirrorAgain(_ rows: [SpoolRow]) async throws { try await inner.mirrorAgain(rows) }

    func countRecreated(requests: [SpoolRow], credentials: [SpoolRow]) async throws -> Int {
        try await inner.countRecreated(requests: requests, credentials: credentials)
    }

    func waitForConfirmed(_ count: Int) async {
        if confirmedCount >= count { return }
        for await _ in stream where confirmedCount >= count { return }
    }
}
