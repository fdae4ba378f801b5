import Engine
import FoundationEssentials
import GRDB
import Ledger
import Lifecycle
import Storage
import Systemd
import Testing
import Vault

@testable import Daemon

struct LedgerKeeperTests {
    /// A state that is opened again and again, with its checkpoints in a directory of their own.
    private final class Place: Sendable {
        let bench: Bench
        let logs: String

        init() throws {
            bench = try Bench()
            logs = bench.directory + "/logs"
            try FileManager.default.createDirectory(
                atPath: logs,
                withIntermediateDirectories: false
            )
        }

        var file: String { logs + "/checkpoints" }

        func open(_ state: StateDatabase) async throws -> LedgerKeeper {
            try await LedgerSetup(
                state: state,
                directories: ServiceDirectories(
                    environment: [:],
                    overrides: .init(state: bench.directory, logs: logs)
                ),
                clock: JumpingClock(),
                logger: bench.log.logger
            ).open()
        }

        /// Adds as many entries, each in a commit of its own.
        func write(_ count: Int, from start: Int = 0, to state: StateDatabase) async throws {
            for index in start..<start + count {
                let entry = LedgerEntry(
                    at: Bench.start,
                    index % 4 == 3
                        ? [
                            .event: .word("erased"), .generation: .number(Int64(index)),
                            .state: .word("completed"),
                            .user: .hash(Array(repeating: 7, count: 32)),
                        ] : [.event: .word("state"), .count: .number(Int64(index))]
                )
                try await state.writeLedger(try #require(entry))
            }
        }

        func read() throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: file))) }

        func replace(_ bytes: [UInt8]) throws {
            try Data(bytes).write(to: URL(filePath: file))
        }

        /// A copy of the closed state; `open` opens it again.
        func copy(from: String, to: String) throws {
            if FileManager.default.fileExists(atPath: to) {
                try FileManager.default.removeItem(atPath: to)
            }
            try FileManager.default.copyItem(atPath: from, toPath: to)
        }

        func reopen() throws -> StateDatabase {
            try StateDatabase.open(path: bench.directory + "/state.db", now: { Bench.start })
        }
    }

    @Test func `what is signed verifies, again after a restart, and nothing is signed twice`()
        async throws
    {
        let place = try Place()
        let keeper = try await place.open(place.bench.state)
        try await place.write(300, to: place.bench.state)
        try await keeper.checkpoint()
        try await keeper.checkpoint()
        try await place.write(10, to: place.bench.state)
        let verdict = try await keeper.verify()
        #expect(verdict.audit.findings == [])
        #expect(verdict.audit.checkpointCount == 1)
        #expect(verdict.audit.covered?.size == 300)
        #expect(verdict.uncovered == 10)
        try await place.bench.state.close()
        let state = try place.reopen()
        let again = try await place.open(state)
        #expect(await again.health == .sound)
        try await again.checkpoint()
        #expect(try await again.verify().audit.findings == [])
        #expect(try await again.verify().uncovered == 0)
        #expect(place.bench.log.all.count { $0.hasPrefix("ledgerCheckpoint") } == 2)
        try await state.close()
    }

    @Test func `an old copy of the state is noticed and signs nothing until it is accepted`()
        async throws
    {
        let place = try Place()
        let path = place.bench.directory + "/state.db"
        var keeper = try await place.open(place.bench.state)
        try await place.write(5, to: place.bench.state)
        try await keeper.checkpoint()
        try await place.bench.state.close()
        try place.copy(from: path, to: path + ".old")
        var state = try place.reopen()
        keeper = try await place.open(state)
        try await place.write(7, to: state)
        try await keeper.checkpoint()
        try await state.close()
        try place.copy(from: path + ".old", to: path)

        state = try place.reopen()
        keeper = try await place.open(state)
        #expect(await keeper.health == .rolledBack(missing: 7))
        #expect(place.bench.log.all.contains("stateRolledBack count=7"))
        let audit = try await keeper.verify().audit
        #expect(audit.findings.contains { $0.kind == .missingLeaves })
        #expect(audit.unexplainedCount == 0)
        // Work that goes on must not hide it: by the next start there are more entries than before.
        try await place.write(20, from: 100, to: state)
        try await keeper.checkpoint()
        try await state.close()
        state = try place.reopen()
        keeper = try await place.open(state)
        #expect(await keeper.health == .damaged(.rootMismatch))

        try await keeper.accept(uid: 1000)
        #expect(await keeper.health == .sound)
        try await keeper.checkpoint()
        #expect(try await keeper.verify().audit.findings == [])
        try await state.close()
        state = try place.reopen()
        keeper = try await place.open(state)
        #expect(await keeper.health == .sound)
        let files = try FileManager.default.contentsOfDirectory(atPath: place.logs)
        #expect(files.count == 2)
        try await state.close()
    }

    @Test func `an old copy does not say which erasures were begun`() async throws {
        let place = try Place()
        let path = place.bench.directory + "/state.db"
        let store = StoreName("app-db")
        let begun = BegunErasure(
            request: RequestID(TimeOrderedID(high: 1, low: 1)),
            hash: Array(repeating: 7, count: 32)
        )
        var keeper = try await place.open(place.bench.state)
        try await place.write(5, to: place.bench.state)
        try await keeper.checkpoint()
        _ = try await place.bench.state.beginReplay(of: [begun], in: store)
        try await place.bench.state.close()
        try place.copy(from: path, to: path + ".old")
        var state = try place.reopen()
        keeper = try await place.open(state)
        #expect(try await state.begunReplays(in: store) == [begun])
        try await place.write(2, to: state)
        try await keeper.checkpoint()
        try await state.close()
        try place.copy(from: path + ".old", to: path)
        state = try place.reopen()
        keeper = try await place.open(state)
        #expect(await keeper.health == .rolledBack(missing: 2))
        #expect(try await state.begunReplays(in: store) == [])
        try await state.close()
    }

    @Test(arguments: ["removed", "cut", "flipped"])
    func `a checkpoint file that was changed is noticed at the start`(
        _ change: String
    ) async throws {
        let place = try Place()
        let keeper = try await place.open(place.bench.state)
        try await place.write(4, to: place.bench.state)
        try await keeper.checkpoint()
        let first = try place.read().count
        try await place.write(4, to: place.bench.state)
        try await keeper.checkpoint()
        try await place.bench.state.close()
        var bytes = try place.read()
        switch change {
        case "removed": bytes = []
        case "cut": bytes.removeLast(bytes.count - first)
        default: bytes[bytes.count - 20] ^= 1
        }
        try place.replace(bytes)
        let state = try place.reopen()
        let again = try await place.open(state)
        #expect(await again.health == .damaged(.missingNote))
        #expect(try await again.verify().audit.findingCount > 0)
        try await state.close()
    }

    @Test(arguments: ["removed", "cut", "older", "flipped"])
    func `a checkpoint file that is changed meanwhile is noticed before anything follows it`(
        _ change: String
    ) async throws {
        let place = try Place()
        let state = place.bench.state
        let keeper = try await place.open(state)
        try await place.write(4, to: state)
        try await keeper.checkpoint()
        let older = try place.read()
        try await place.write(4, to: state)
        try await keeper.checkpoint()
        let sound = try place.read()
        #expect(try await keeper.verify().audit.findingCount == 0)
        var changed = sound
        switch change {
        case "removed": changed = []
        case "cut": changed.removeLast(7)
        case "older": changed = older
        default: changed[changed.count - 20] ^= 1
        }
        try place.replace(changed)
        #expect(try await keeper.verify().audit.findingCount > 0)
        try await place.write(4, to: state)
        try await keeper.checkpoint()
        #expect(await keeper.health == .damaged(.missingNote))
        #expect(try place.read() == changed, "nothing is written behind it")
        #expect(try await keeper.sizeToExport(from: 0) == 12, "an export holds all there is")
        try place.replace(sound)
        try await state.close()
        let again = try place.reopen()
        let next = try await place.open(again)
        #expect(await next.health == .sound)
        try await next.checkpoint()
        #expect(try await next.verify().audit.findingCount == 0)
        try await again.close()
    }

    @Test func `an export holds nothing that is not signed`() async throws {
        let place = try Place()
        let state = place.bench.state
        let keeper = try await place.open(state)
        try await place.write(5, to: state)
        #expect(try await keeper.sizeToExport(from: 0) == 5)
        #expect(await keeper.last?.checkpoint.size == 5)
        try await place.write(2, to: state)
        #expect(try await keeper.sizeToExport(from: 3) == 5, "what came meanwhile is for the next")
        #expect(try await keeper.sizeToExport(from: 0) == 7)
        try await state.close()
    }

    @Test(
        "an end that a crash tore is cut off and written again",
        arguments: [
            "expunged-0/tombstones\n3 {",
            // The last sector reached the disk, one before it did not (power cuts).
            "expunged-0/tombstones\n3 {\u{0}\u{0}\u{0}\n\n\u{2014} expunged-0 AAAAAAAA\n\n",
        ]
    )
    func torn(end: String) async throws {
        let place = try Place()
        let keeper = try await place.open(place.bench.state)
        try await place.write(4, to: place.bench.state)
        try await keeper.checkpoint()
        let whole = try place.read()
        try place.replace(whole + Array(end.utf8))
        try await place.bench.state.close()
        let state = try place.reopen()
        let again = try await place.open(state)
        #expect(await again.health == .sound)
        #expect(try place.read() == whole)
        try await place.write(4, to: state)
        try await again.checkpoint()
        #expect(try await again.verify().audit.findings == [])
        try await state.close()
    }

    @Test func `the ids of one who had thousands leave in notes that are read back whole`()
        async throws
    {
        let place = try Place()
        let keeper = try await place.open(place.bench.state)
        let request = RequestID(TimeOrderedID(high: 1, low: 1))
        for leaf in 0..<160 {
            let hashes = (0..<64).map { number in
                [UInt8(leaf), UInt8(number)] + Array(repeating: 7 as UInt8, count: 30)
            }
            let entry = LedgerEntry(
                at: Bench.start,
                [
                    .event: .word("erased_keys"), .keys: .hashes(hashes),
                    .request: .id(request.value),
                ]
            )
            try await place.bench.state.writeLedger(try #require(entry))
        }
        try await keeper.checkpoint()
        #expect(try await keeper.verify().audit.findings == [])
        #expect(try await keeper.learnTombstones(since: Bench.start + .seconds(1)) == 0)
        #expect(try await keeper.learnTombstones(since: Bench.start) == 160 * 64)
        let found = try await place.bench.state.tombstones(
            since: .distantPast,
            after: 0,
            limit: 20_000
        ).page
        #expect(found.count == 160 * 64 && Set(found.map(\.hash)).count == found.count)
        #expect(found.allSatisfy { $0.isKey && $0.request == request })
    }

    @Test func `another key than before stops the start`() async throws {
        let place = try Place()
        _ = try await place.open(place.bench.state)
        try place.bench.writeKey("ledger-key", filler: 3)
        await #expect(throws: DaemonError.self) {
            _ = try await LedgerSetup(
                state: place.bench.state,
                directories: ServiceDirectories(
                    environment: [:],
                    overrides: .init(
                        state: place.bench.directory,
                        credentials: place.bench.directory,
                        logs: place.logs
                    )
                ),
                clock: JumpingClock(),
                logger: place.bench.log.logger
            ).open()
        }
    }

    @Test(
        "a changed or deleted row about a checkpoint is noticed, at the start and by verify",
        arguments: [
            "DELETE FROM ledger_checkpoints WHERE id = 2",
            "DELETE FROM ledger_checkpoints WHERE id >= 3",
            "DELETE FROM ledger_checkpoints WHERE id = 4",
            "DELETE FROM ledger_checkpoints",
            "UPDATE ledger_checkpoints SET size = size + 1 WHERE id = 2",
            "UPDATE ledger_checkpoints SET ends_at = ends_at - 1 WHERE id = 2",
            "UPDATE ledger_checkpoints SET note = replace(note, 'A', 'B') WHERE id = 2",
        ]
    )
    func changedRow(_ sql: String) async throws {
        let place = try Place()
        let keeper = try await place.open(place.bench.state)
        for round in 0..<4 {
            try await place.write(2, from: round * 2, to: place.bench.state)
            try await keeper.checkpoint()
        }
        #expect(try await keeper.verify().audit.findingCount == 0)
        try await place.bench.state.close()
        try Self.forge(sql, place.bench.directory + "/state.db")
        let state = try place.reopen()
        let again = try await place.open(state)
        #expect(await again.health == .damaged(.badCheckpointRow))
        let kinds = Set(try await again.verify().audit.findings.map(\.kind))
        #expect(!kinds.isEmpty)
        #expect(kinds.isSubset(of: [.badCheckpointRow, .missingNote]))
        try await state.close()
    }

    /// Goes around the triggers, as whoever may write the file can.
    private static func forge(_ sql: String, _ path: String) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { database in
            for name in ["ledger_checkpoints_keeps", "ledger_checkpoints_stays"] {
                try database.execute(sql: "DROP TRIGGER \(name)")
            }
            try database.execute(sql: sql)
        }
        try queue.close()
    }
}
