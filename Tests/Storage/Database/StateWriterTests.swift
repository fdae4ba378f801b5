import Engine
import GRDB
import Glibc
import Lifecycle
import Synchronization
import Testing

@testable import Storage

/// Counts commits and fails or blocks the ones it is told to.
final class CommitGate: Sendable {
    private let state = Mutex((count: 0, failure: DatabaseError?.none))

    var commitCount: Int { state.withLock { $0.count } }

    func failNext(_ code: ResultCode) {
        state.withLock { $0.failure = DatabaseError(resultCode: code) }
    }

    func pass() throws {
        let failure = state.withLock { state in
            state.count += 1
            defer { state.failure = nil }
            return state.failure
        }
        if let failure { throw failure }
    }
}

/// Counts those who have come.
private final class Arrivals: Sendable {
    private let count = Mutex(0)

    func add() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}

@Suite(.onEachDatabase)
struct StateWriterTests {
    private struct Refusal: Error {}

    private static let insert = "INSERT INTO sign_ins VALUES (randomblob(16), 1)"

    @Test(.timeLimit(.minutes(5)))
    func `mutations that wait share a commit`() async throws {
        let gate = CommitGate()
        let fixture = try StateFixture(willCommit: { try gate.pass() })
        let writer = fixture.database.writer
        let before = gate.commitCount
        let mustStay = StateKind.current == .postgresql
        var ends: [Int32] = [0, 0]
        try #require(unsafe pipe(&ends) == 0)
        let (readEnd, writeEnd) = (ends[0], ends[1])
        let (entered, enter) = AsyncStream<Void>.makeStream()
        let arrivals = Arrivals()
        try await withThrowingTaskGroup(of: Void.self) { group in
            // The writer is busy until all have come.
            group.addTask {
                try await writer.perform { database in
                    defer { enter.finish() }
                    if mustStay {
                        try database.run("SET LOCAL idle_in_transaction_session_timeout = 0")
                    }
                    enter.finish()
                    var byte: UInt8 = 0
                    _ = unsafe read(readEnd, &byte, 1)
                }
            }
            for await _ in entered {}
            for _ in 0..<2000 {
                group.addTask {
                    if arrivals.add() == 2000 { close(writeEnd) }
                    try await writer.run(Self.insert)
                }
            }
            try await group.waitForAll()
        }
        close(readEnd)
        #expect(try await fixture.int("SELECT count(*) FROM sign_ins") == 2000)
        #expect(gate.commitCount - before < 100)
    }

    @Test func `a mutation that throws is rolled back alone`() async throws {
        let fixture = try StateFixture()
        let writer = fixture.database.writer
        let failures = await withTaskGroup(of: Bool.self) { group in
            for index in 0..<300 {
                group.addTask {
                    do {
                        try await writer.perform { database in
                            try database.run(Self.insert)
                            if index.isMultiple(of: 3) { throw Refusal() }
                        }
                        return false
                    } catch {
                        return error is Refusal
                    }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(failures == 100)
        #expect(try await fixture.int("SELECT count(*) FROM sign_ins") == 200)
    }

    @Test func `a cancelled caller does not touch its batch`() async throws {
        let fixture = try StateFixture()
        let writer = fixture.database.writer
        let results = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    do {
                        try await writer.run(Self.insert)
                        return true
                    } catch {
                        return false
                    }
                }
            }
            group.cancelAll()
            return await group.reduce(into: [Bool]()) { $0.append($1) }
        }
        #expect(!results.contains(false))
        #expect(try await fixture.int("SELECT count(*) FROM sign_ins") == 200)
    }

    @Test func `a failed commit ends the writer`() async throws {
        let gate = CommitGate()
        let fixture = try StateFixture(willCommit: { try gate.pass() })
        gate.failNext(.SQLITE_IOERR)
        for _ in 0..<2 {
            let error = await #expect(throws: StorageError.self) {
                try await fixture.execute(Self.insert)
            }
            #expect(error?.kind == .commitFailed)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `a failed commit of anybody ends the service`() async throws {
        let gate = CommitGate()
        let fixture = try StateFixture(willCommit: { try gate.pass() })
        // The one of the start.
        for await _ in fixture.database.scrubSignal.signals { break }
        gate.failNext(.SQLITE_NOMEM)
        await #expect(throws: StorageError.self) { try await fixture.execute(Self.insert) }
        let error = await #expect(throws: StorageError.self) {
            try await fixture.database.runScrubs(delay: .zero)
        }
        #expect(error?.kind == .commitFailed)
    }

    @Test func `a full disk at the commit fails the batch and nothing after it`() async throws {
        let gate = CommitGate()
        let fixture = try StateFixture(willCommit: { try gate.pass() })
        gate.failNext(.SQLITE_FULL)
        let error = await #expect(throws: StorageError.self) {
            try await fixture.execute(Self.insert)
        }
        #expect(error?.kind == .diskFull)
        try await fixture.execute(Self.insert)
        #expect(try await fixture.int("SELECT count(*) FROM sign_ins") == 1)
    }

    @Test(.onlySQLite)
    func `a real full disk loses nothing that was acknowledged`() async throws {
        let directory = try StateFixture.makeDirectory()
        defer { StateFixture.remove(directory) }
        guard Tmpfs.mount(at: directory, byteCount: 1 << 20) else {
            withKnownIssue("skipped: mounting a small file system needs root") {
                Issue.record("not root")
            }
            return
        }
        defer { Tmpfs.unmount(directory) }
        let database = try StateDatabase.open(
            path: directory + "/state.db",
            now: { StateFixture.start }
        )
        let insert = "INSERT INTO idempotency VALUES ('s', randomblob(400), x'', x'', 0)"
        var acknowledged = 0
        var failure: StorageError?
        while failure == nil, acknowledged < 10_000 {
            do {
                try await database.writer.run(insert)
                acknowledged += 1
            } catch let error as StorageError {
                failure = error
            }
        }
        #expect(failure?.kind == .diskFull)
        let count = try await database.read {
            try $0.int("SELECT count(*) FROM idempotency")
        }
        #expect(count == acknowledged)
        #expect(Tmpfs.resize(directory, byteCount: 8 << 20))
        try await database.writer.run(insert)
        let check = try await database.read {
            try $0.first("PRAGMA integrity_check") { $0.text() }
        }
        #expect(check == "ok")
        try await database.close()
    }

    @Test func `after the close everything is refused`() async throws {
        let fixture = try StateFixture()
        try await fixture.database.close()
        let error = await #expect(throws: StorageError.self) {
            try await fixture.execute(Self.insert)
        }
        #expect(error?.kind == .closed)
        let read = await #expect(throws: StorageError.self) {
            try await fixture.database.requestCounts()
        }
        #expect(read?.kind == .closed)
    }
}
