import Encoding
import FoundationEssentials
import GRDB
import Glibc
import Ledger
import Lifecycle
import Logging
import Storage
import Systemd
import Testing
import Vault

@testable import Daemon

@Suite("Backup and restore") struct BackupTests {
    private static let change = """
        DROP TRIGGER ledger_stays;
        UPDATE ledger SET leaves =
          CAST(replace(CAST(leaves AS TEXT), '"count":5,', '"count":6,') AS BLOB)
        """

    private static func makeBench() async throws -> Bench {
        let bench = try Bench()
        try await bench.state.setNote("hash_key", to: bench.hasher.fingerprintText)
        let keeper = try await LedgerSetup(
            state: bench.state,
            directories: ServiceDirectories(
                environment: [:],
                overrides: .init(state: bench.directory, logs: bench.directory)
            ),
            clock: JumpingClock(),
            logger: bench.log.logger
        ).open()
        for index in 0..<600 {
            let entry = LedgerEntry(
                at: Bench.start,
                [.event: .word("state"), .count: .number(Int64(index))]
            )
            try await bench.state.writeLedger(try #require(entry))
        }
        let user = [UInt8](repeating: 7, count: 32)
        _ = try await bench.state.holdUser(user, by: 1000, at: Bench.start)
        try await keeper.checkpoint()
        return bench
    }

    private static func backup(_ bench: Bench) throws -> String {
        let file = bench.directory + "/backup.tar"
        _ = try Backup(stateDirectory: bench.directory, now: { Bench.start }).write(to: file)
        return file
    }

    private static func restore(_ file: String, _ bench: Bench) throws -> String {
        try Restore(
            stateDirectory: bench.directory,
            vault: bench.setup(),
            now: { Bench.start }
        ).read(file)
    }

    private static func bytes(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: path)))
    }

    @Test("the size of a member survives", arguments: [0, 1, 511, 1 << 33 - 1, 1 << 33, 1 << 40])
    func sizes(byteCount: Int) throws {
        let header = TarArchive.header("state.db", byteCount: byteCount)
        let member = try #require(TarArchive.member(header))
        #expect(member.name == "state.db" && member.byteCount == byteCount)
    }

    @Test("a header with any flipped bit is refused")
    func flippedHeaders() {
        let header = TarArchive.header("state.db", byteCount: 4096)
        for index in header.indices {
            for bit in 0..<8 {
                var flipped = header
                flipped[index] ^= 1 << bit
                // The checksum's own end is not read.
                if (154..<156).contains(index) { continue }
                #expect(TarArchive.member(flipped) == nil, "byte \(index), bit \(bit)")
            }
        }
    }

    @Test("a backup beside an open state has all that was committed, and is restored")
    func roundTrip() async throws {
        let bench = try await Self.makeBench()
        let size = bench.state.ledgerSize
        let file = try Self.backup(bench)
        let later = try #require(LedgerEntry(at: Bench.start, [.event: .word("state")]))
        try await bench.state.writeLedger(later)
        try await bench.state.close()
        let former = try Self.bytes(bench.directory + "/state.db")
        let text = try Self.restore(file, bench)
        #expect(text.contains("accept-rollback") && text.contains("UPDATE requests"))
        let holds = "holds in force then: 1 on users, 0 on stores and rows, 0 on requests"
        #expect(text.contains(holds))
        let kept = bench.directory + "/replaced-\(Bench.start.unixMilliseconds)/state.db"
        #expect(try Self.bytes(kept) == former)
        #expect(try Self.bytes(CrashMarker.path(in: bench.directory)) == [CrashMarker.restored])
        let state = try StateDatabase.open(
            path: bench.directory + "/state.db",
            now: { Bench.start }
        )
        #expect(state.ledgerSize == size && state.wasUncleanStop)
        try await state.close()
    }

    @Test("without space for the copy and its archive there is no backup, and it says so")
    func space() async throws {
        let bench = try await Self.makeBench()
        let copy = bench.directory + "/copy.db"
        try StateCopy.make(of: bench.directory + "/state.db", at: copy)
        // What the WAL has of the same pages needs no space in the copy.
        let needed = UInt64(2 * (try Self.bytes(copy).count))
        var backup = Backup(stateDirectory: bench.directory, now: { Bench.start })
        backup.space = { _ in DiskSpace(freeBytes: needed - 1, freeFiles: 9) }
        let full = backup
        let before = try FileManager.default.contentsOfDirectory(atPath: bench.directory)
        #expect {
            try full.write(to: bench.directory + "/backup.tar")
        } throws: {
            "\($0)".contains("MiB are free, and the copy and the archive of it need ")
        }
        let after = try FileManager.default.contentsOfDirectory(atPath: bench.directory)
        #expect(after.sorted() == before.sorted())
        backup.space = { _ in DiskSpace(freeBytes: needed, freeFiles: 9) }
        _ = try backup.write(to: bench.directory + "/backup.tar")
        try await bench.state.close()
    }

    @Test("a service that runs keeps a restore out")
    func running() async throws {
        let bench = try await Self.makeBench()
        let file = try Self.backup(bench)
        #expect { try Self.restore(file, bench) } throws: { "\($0)".contains("systemctl stop") }
        try await bench.state.close()
    }

    @Test("a changed ledger gives no backup")
    func changedLedger() async throws {
        let bench = try await Self.makeBench()
        try await bench.state.close()
        let queue = try DatabaseQueue(path: bench.directory + "/state.db")
        try await queue.write { database in
            try database.execute(sql: Self.change)
        }
        try queue.close()
        #expect { try Self.backup(bench) } throws: { "\($0)".contains("root_mismatch") }
        #expect(!BackupFile.exists(bench.directory + "/backup.tar"))
    }

    @Test("another hash.key gives no backup, and no file that exists is replaced")
    func otherKey() async throws {
        let bench = try await Self.makeBench()
        let file = try Self.backup(bench)
        #expect { try Self.backup(bench) } throws: { "\($0)".contains("overwrites nothing") }
        #expect(unsafe unlink(file) == 0)
        try Data(repeating: 7, count: 32).write(to: URL(filePath: bench.directory + "/hash.key"))
        #expect { try Self.backup(bench) } throws: { "\($0)".contains("hash.key is not the key") }
        try await bench.state.close()
    }
}
