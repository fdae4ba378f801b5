import Engine
import GRDB
import Lifecycle
import Synchronization
import Testing

@testable import Storage

@Suite("A queue in service", .timeLimit(.minutes(20))) struct QueueServiceTests {
    private func service(
        _ queue: HeldQueue,
        _ intake: any SpoolIntake,
        _ source: any SpoolMirrorSource,
        _ health: SpoolHealthLog = SpoolHealthLog()
    ) throws -> SpoolService {
        SpoolService(
            queue: queue,
            name: "app",
            ports: SpoolService.Ports(
                intake: intake,
                source: source,
                hasher: SpoolHasher(),
                clock: .system(),
                report: { health.add($0) }
            ),
            sweepInterval: .milliseconds(40)
        )
    }

    @Test("a row becomes a request once, also when the service starts again before it was shown")
    func exactlyOnce() async throws {
        let (queue, state) = (HeldQueue(), try StateFixture())
        queue.submit(1, "u1")
        queue.store(1, "u1", secret: "token")
        let taker = SpoolCountingIntake(SpoolStateIntake(state: state.database))
        try await running(try service(queue, taker, SpoolMirrorBox())) { await taker.wait(for: 1) }
        let later = HeldQueue()
        later.submit(1, "u1")
        later.store(1, "u1", secret: "token")
        let source = SpoolCountingSource(state.database)
        let again = SpoolStateIntake(state: state.database)
        let service = try service(later, again, source)
        try await running(service) {
            await source.waitForConfirmed(1)
            #expect(await service.readToEnd() == .read)
        }
        #expect(try await state.int("SELECT count(*) FROM requests") == 1)
        #expect(try await state.int("SELECT count(*) FROM credentials") == 1)
        #expect(later.row(.requests, 1)?.state == "accepted")
        #expect(later.row(.credentials, 1)?.state == "sealed")
        #expect(later.row(.credentials, 1)?.cells["secret"] == nil)
    }

    @Test("a row that becomes visible below the last one that was read is taken")
    func lateCommit() async throws {
        let queue = HeldQueue()
        let taker = SpoolTaker()
        queue.submit(9, "early")
        try await running(try service(queue, taker, SpoolMirrorBox())) {
            await taker.wait(for: 1)
            queue.submit(3, "late")
            await taker.wait(for: 2)
        }
        #expect(taker.users == ["early", "late"])
    }

    @Test("a row that was taken is not read again while nothing of it changes")
    func marked() async throws {
        let queue = HeldQueue()
        let taker = SpoolTaker()
        try await running(try service(queue, taker, SpoolMirrorBox())) {
            for id in 1...5 as ClosedRange<Int64> {
                queue.submit(id, "u\(id)")
                await taker.wait(for: Int(id))
            }
        }
        #expect(taker.users == ["u1", "u2", "u3", "u4", "u5"])
        #expect(queue.row(.requests, 1)?.state == "accepted")
    }

    @Test("rows that break the rules are refused, whatever the tables allow")
    func hostile() async throws {
        let queue = HeldQueue()
        let taker = SpoolTaker()
        let bad: [[String: String]] = [
            ["kind": "delete_account", "user_id": "a\nb", "options": "{}"],
            [
                "kind": "delete_account", "user_id": String(repeating: "x", count: 256),
                "options": "{}",
            ],
            ["kind": "erase_all", "user_id": "u", "options": "{}"],
            ["kind": "delete_account", "user_id": "u", "options": "[]"],
            ["kind": "delete_account", "user_id": "u"],
            ["kind": "delete_account", "user_id": "u", "options": "{}", "created_at": "today"],
        ]
        for (index, cells) in bad.enumerated() { queue.put(.requests, Int64(index + 1), cells) }
        queue.submit(100, "honest")
        try await running(try service(queue, taker, SpoolMirrorBox())) {
            await taker.wait(for: bad.count + 1)
        }
        #expect(taker.users == ["honest"])
        #expect(
            taker.batches.flatMap { $0.refused.map(\.reason) } == [
                .malformedUserID, .malformedUserID, .unknownKind, .malformedOption, .malformedRow,
                .malformedRow,
            ]
        )
    }

    @Test("whichever call breaks the connection, before or after its effect, nothing is lost")
    func everyCall() async throws {
        let quiet = HeldQueue()
        let callCount = try await run(quiet, failing: nil)
        for call in 1...callCount {
            for isLost in [true, false] {
                _ = try await run(HeldQueue(), failing: (call, isLost))
            }
        }
    }

    private func run(
        _ queue: HeldQueue,
        failing failure: (call: Int, isLost: Bool)?
    ) async throws -> Int {
        let state = try StateFixture()
        if let failure { queue.fail(call: failure.call, isLost: failure.isLost) }
        queue.store(1, "u1", secret: "token")
        queue.submit(1, "u1")
        queue.submit(2, "u2")
        let source = SpoolCountingSource(state.database)
        let service = try service(queue, SpoolStateIntake(state: state.database), source)
        try await running(service) {
            await source.waitForConfirmed(2)
            #expect(await service.readToEnd() == .read)
        }
        #expect(try await state.int("SELECT count(*) FROM requests") == 2, "\(failure as Any)")
        #expect(try await state.int("SELECT count(*) FROM credentials") == 1)
        #expect(queue.row(.requests, 1)?.state == "accepted", "\(failure as Any)")
        #expect(queue.row(.requests, 2)?.state == "accepted", "\(failure as Any)")
        #expect(queue.row(.credentials, 1)?.state == "sealed", "\(failure as Any)")
        return queue.callCount
    }

    @Test("a server that is away is quarantined, and used again when it is back")
    func away() async throws {
        let queue = HeldQueue()
        let (taker, health) = (SpoolTaker(), SpoolHealthLog())
        queue.setAway(true)
        try await running(try service(queue, taker, SpoolMirrorBox(), health)) {
            await health.wait(for: .quarantined(.unreachable))
            queue.submit(1, "u1")
            queue.setAway(false)
            await taker.wait(for: 1)
            await health.wait(for: .back)
        }
        #expect(taker.users == ["u1"])
    }

    @Test("other tables in the place of a queue are reported, and their rows are new")
    func replaced() async throws {
        let queue = HeldQueue()
        let (taker, health) = (SpoolTaker(), SpoolHealthLog())
        queue.submit(1, "u1")
        try await running(try service(queue, taker, SpoolMirrorBox(), health)) {
            await taker.wait(for: 1)
            queue.replace(by: "q2")
            queue.submit(1, "u1")
            await taker.wait(for: 2)
            await health.wait(for: .replaced(isSameSpool: false))
        }
    }

    @Test("a request with more rows than one commit has is shown in all of them")
    func manyRows() async throws {
        let (queue, box) = (HeldQueue(), SpoolMirrorBox())
        let request = RequestID(StateFixture.newID())
        let ids = 1...1200 as ClosedRange<Int64>
        for id in ids {
            queue.submit(id, "u")
            queue.change(id) { ($0.state, $0.requestID) = ("accepted", "\(request)") }
        }
        box.put(
            ids.map { id in
                MirrorRow(
                    spoolID: SpoolSource.spoolID(queue: "app", id: "q1"),
                    spoolRow: id,
                    requestID: request,
                    state: .completed,
                    detail: nil,
                    updatedAt: StateFixture.start,
                    isErased: true,
                    revision: 2,
                    fingerprint: []
                )
            }
        )
        try await running(try service(queue, SpoolTaker(), box)) {
            await box.waitForConfirmed(1200)
        }
        #expect(ids.allSatisfy { queue.row(.requests, $0)?.state == "completed" })
        #expect(ids.allSatisfy { queue.row(.requests, $0)?.cells["user_id"] != "u" })
    }

    @Test("a read that began before a question does not answer it")
    func barrier() async throws {
        let queue = HeldQueue()
        // The walk is of more rows than one batch has.
        for id in 1...200 as ClosedRange<Int64> { queue.store(id + 10, "u\(id)", secret: "t\(id)") }
        let taker = LateTaker { queue.store(1, "late", secret: "late") }
        let service = try service(queue, taker, SpoolMirrorBox())
        taker.ask = { await service.readToEnd() }
        try await running(service) { await taker.answered() }
        #expect(taker.secretsAtAnswer.contains("late"))
    }

    @Test("a row that is changed before it was shown is another request")
    func changed() async throws {
        let queue = HeldQueue()
        let taker = SpoolTaker()
        queue.submit(1, "u1")
        let intake = HookedIntake(taker) {
            guard queue.row(.requests, 1)?.cells["user_id"] == "u1" else { return }
            queue.change(1) { $0.cells["user_id"] = "u2" }
        }
        try await running(try service(queue, intake, SpoolMirrorBox())) {
            await taker.wait(for: 2)
        }
        #expect(taker.users == ["u1", "u2"])
    }
}

/// Runs something between the read of rows and their receipts.
final class HookedIntake: SpoolIntake {
    private let inner: any SpoolIntake
    private let hook: @Sendable () -> Void

    init(_ inner: any SpoolIntake, _ hook: @escaping @Sendable () -> Void) {
        (self.inner, self.hook) = (inner, hook)
    }

    func take(_ batch: SpoolBatch) async throws -> SpoolReceipts {
        hook()
        return try await inner.take(batch)
    }
}

/// Asks for a read in the middle of a walk, right after a lower row has become visible.
final class LateTaker: SpoolIntake {
    private struct State {
        var secrets: Set<String> = []
        var hasAsked = false
        var atAnswer: Set<String>?
        var ask: @Sendable () async -> SpoolReadOutcome = { .stopped }
    }

    private let state = Mutex(State())
    private let commit: @Sendable () -> Void
    private let (stream, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .unbounded)

    init(_ commit: @escaping @Sendable () -> Void) { self.commit = commit }

    var ask: @Sendable () async -> SpoolReadOutcome {
        get { state.withLock { $0.ask } }
        set { state.withLock { $0.ask = newValue } }
    }

    var secretsAtAnswer: Set<String> { state.withLock { $0.atAnswer ?? [] } }

    func take(_ batch: SpoolBatch) async throws -> SpoolReceipts {
        let isFirst = state.withLock { state in
            state.secrets.formUnion(batch.credentials.map { $0.credential.secret.exposeText() })
            defer { state.hasAsked = true }
            return !state.hasAsked
        }
        if isFirst {
            commit()
            signal.yield()
        }
        return SpoolReceipts(
            credentials: batch.credentials.map { _ in .sealed },
            requests: batch.requests.map { _ in .postponed }
        )
    }

    /// Asks once the first batch was taken, and notes what was taken when the answer comes.
    func answered() async {
        for await _ in stream { break }
        let outcome = await ask()
        state.withLock { $0.atAnswer = outcome == .read ? $0.secrets : [] }
    }
}
