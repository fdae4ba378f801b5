import Engine
import Lifecycle
import Testing

@testable import Storage

@Suite("Operations and signals between hosts")
struct SharedOperationTests {
    private static let events: [RequestEvent] = [
        .cancel, .hold, .release, .retry, .abandon, .quarantine, .absorbed, .due,
        .approve("sha256:ab", by: 4_000_000_000),
        .restored([StoreName("db"), StoreName("files")], at: SharedBench.start),
        .restored([], at: nil),
    ]

    private static func next(
        _ signals: AsyncStream<HostSignal>,
        _ isWanted: (HostSignal) -> Bool = { _ in true }
    ) async -> HostSignal? {
        for await signal in signals { if isWanted(signal) { return signal } }
        return nil
    }

    private static func isAnswered(
        _ wait: () async throws -> OperationOutcome
    ) async -> Bool {
        do {
            _ = try await wait()
            return true
        } catch {
            // Only whether there is an answer matters.
            return false
        }
    }

    @Test func `the owner finds an operation until its commit has answered it`() async throws {
        let bench = try SharedBench("a", "b")
        let (a, b) = (bench.hosts[0], bench.hosts[1])
        let loaded = try await b.accept("u")
        let claims = try await bench.take(.all, for: b)
        let id = try await a.submit(.operate(loaded.request.id, .cancel))
        async let answer = a.answer(to: id)
        let row = try #require(try await b.inbox(of: .all).operations.first)
        #expect(row.id == id && row.partition == loaded.partition)
        guard case .operate(loaded.request.id, .cancel) = row.work else {
            Issue.record("other work: \(row.work)")
            return
        }
        let others = PartitionSet.all.subtracting(PartitionSet([row.partition]))
        #expect(try await b.inbox(of: others).operations.isEmpty)
        try bench.expire()
        let refused = await b.commit([.answer(id, .done)], under: claims)
        #expect(refused.refusal != nil, "who lost the partition answers nothing")
        #expect(try await a.inbox(of: .all).operations.count == 1)
        let again = try await bench.take(.all, for: b)
        #expect(await b.commit([.answer(id, .refused(.tooLate))], under: again).isCommitted)
        let outcome = try await answer
        #expect(outcome == .refused(.tooLate))
        #expect(try await a.inbox(of: .all).operations.isEmpty)
        #expect(try await b.answer(to: id) == .refused(.tooLate))
    }

    @Test(arguments: SharedOperationTests.events)
    func `an operation arrives as it was submitted`(_ event: RequestEvent) throws {
        let id = RequestID(StateFixture.newID())
        let text = try OperationRow.Work.operate(id, event).columnText
        guard case .operate(id, event) = try OperationRow.Work(columnText: text) else {
            Issue.record("\(text)")
            return
        }
    }

    @Test func `a credential is announced to the owner`() throws {
        let (id, hash) = (IdentityID(StateFixture.newID()), StateFixture.hash("u"))
        let text = try OperationRow.Work.learn(id, of: hash).columnText
        guard case .learn(id, hash) = try OperationRow.Work(columnText: text) else {
            Issue.record("\(text)")
            return
        }
        let planned = RequestEvent.planned(.failure(StoreName("db"), .vaultSealed))
        #expect(throws: StorageError.self, "no operator causes it") {
            try OperationRow.Work.operate(RequestID(id.value), planned).columnText
        }
    }

    @Test(arguments: ["{}", "[]", #"["fly","x"]"#, #"["cancel","x"]"#, #"["learn","x","00"]"#])
    func `other texts are malformed`(_ text: String) {
        #expect(throws: StorageError.self) { try OperationRow.Work(columnText: text) }
    }

    @Test func `an operation on a request that is not open is answered at once`() async throws {
        let bench = try SharedBench("a")
        let a = bench.hosts[0]
        let id = try await a.submit(.operate(RequestID(StateFixture.newID()), .retry))
        #expect(try await a.answer(to: id) == .notOpen)
        #expect(try await a.inbox(of: .all).operations.isEmpty)
    }

    @Test func `hosts hear of work, rules and free partitions`() async throws {
        let bench = try SharedBench("a", "b")
        let (a, b) = (bench.hosts[0], bench.hosts[1])
        let signals = b.signals
        // A new session asks for everything.
        _ = await Self.next(signals) { $0 == .mail }
        _ = await Self.next(signals) { $0 == .leases }
        let loaded = try await a.accept("u")
        _ = await Self.next(signals) { $0 == .mail }
        _ = try await a.submit(.operate(loaded.request.id, .hold))
        _ = await Self.next(signals) { $0 == .mail }
        _ = try await a.keep(StateFixture.credential("v", "code", kind: .authorizationCode))
        _ = await Self.next(signals) { $0 == .mail }
        _ = try await a.state.commit([
            .pauseStore(StoreName("db"), reason: "test", at: SharedBench.start)
        ])
        _ = await Self.next(signals) { $0 == .leases }
        let claims = try await a.acquire(.lower)
        try await a.release(claims)
        _ = await Self.next(signals) { $0 == .leases }
    }

    @Test func `a host does not hear itself, and answers reach it`() async throws {
        let bench = try SharedBench("a", "b")
        let (a, b) = (bench.hosts[0], bench.hosts[1])
        let signals = a.signals
        _ = await Self.next(signals) { $0 == .leases }
        let loaded = try await a.accept("u")
        let claims = try await bench.take(.all, for: a)
        let id = try await a.submit(.operate(loaded.request.id, .hold))
        async let answer = a.answer(to: id)
        #expect(await a.commit([.answer(id, .done)], under: claims).isCommitted)
        let outcome = try await answer
        #expect(outcome == .done)
        // Notifications come in order: nothing of its own is before that of the other host.
        _ = try await b.state.commit([
            .pauseStore(StoreName("db"), reason: "test", at: SharedBench.start)
        ])
        #expect(await Self.next(signals) == .leases)
    }

    @Test func `the end of a host ends its signals and waits`() async throws {
        let bench = try SharedBench("a")
        let a = bench.hosts[0]
        let loaded = try await a.accept("u")
        let id = try await a.submit(.operate(loaded.request.id, .hold))
        async let waiting = Self.isAnswered { try await a.answer(to: id) }
        try await a.close()
        let isAnswered = await waiting
        #expect(!isAnswered)
        for await _ in a.signals {}
        #expect(try bench.restart("a", isOwnCrash: false).state.wasUncleanStop == false)
    }
}
