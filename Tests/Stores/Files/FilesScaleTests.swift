import Engine
import Foundation
import Glibc
import Lifecycle
import Stores
import Testing

/// Bounds and races; sizes can be raised: `EXPUNGED_FILES_ENTRIES`, `EXPUNGED_FILES_DEPTH`,
/// `EXPUNGED_FILES_RACE_S`.
@Suite("Files, large and under attack", .serialized)
struct FilesScaleTests {
    private static func size(_ name: String, _ fallback: Int) -> Int {
        ProcessInfo.processInfo.environment[name].flatMap(Int.init) ?? fallback
    }

    /// Purges alice's between two verifications, and says how long it took and what it needed.
    private static func purge(
        _ fixture: FilesFixture,
        _ what: String
    ) async throws -> (
        rowCount: Int, grown: Int?
    ) {
        let store = try fixture.store("{user_id}")
        let order = try FilesFixture.order("alice")
        let memory = try PeakMemory.whereHeld()
        var left: [VerifyAnswer] = []
        let looked = await ContinuousClock().measure { left = await store.verify([order]) }
        Swift.print("bench: \(what) before the purge: \(left) in \(looked)")
        #expect(left != [.clean])
        var answers: [PurgeAnswer] = []
        let took = await ContinuousClock().measure { answers = await store.purge([order]) }
        let grown = try memory?.grownMebibytes()
        let resident = grown.map { ", \($0) MiB more resident at most" } ?? ""
        Swift.print("bench: \(what) in \(took)\(resident)")
        let counts = try #require(answers.first?.rowCounts, "\(answers)")
        #expect(await store.verify([order]) == [.clean])
        return (counts.reduce(0, +), grown)
    }

    @Test("a tree far deeper than descriptors and paths allow goes in bounded memory")
    func depth() async throws {
        let depth = Self.size("EXPUNGED_FILES_DEPTH", 2500)
        let fixture = try FilesFixture()
        try fixture.make("data/uploads/alice/keep/x")
        var folder = unsafe open(fixture.root + "/alice", O_RDONLY | O_DIRECTORY)
        for _ in 0..<depth {
            #expect(unsafe mkdirat(folder, "d", 0o700) == 0)
            close(unsafe openat(folder, "f", O_CREAT | O_WRONLY, 0o600))
            let next = unsafe openat(folder, "d", O_RDONLY | O_DIRECTORY)
            close(folder)
            folder = next
        }
        close(folder)
        let (rowCount, grown) = try await Self.purge(fixture, "\(depth) levels")
        #expect(rowCount == 2 * depth + 3)
        if let grown { #expect(grown < 48) }
        #expect(!fixture.exists("data/uploads/alice"))
    }

    @Test("a folder with very many entries goes in bounded memory")
    func breadth() async throws {
        let count = Self.size("EXPUNGED_FILES_ENTRIES", 5000)
        let fixture = try FilesFixture()
        try fixture.make("data/uploads/alice/x")
        let folder = unsafe open(fixture.root + "/alice", O_RDONLY | O_DIRECTORY)
        for number in 1..<count {
            close(unsafe openat(folder, "\(number)", O_CREAT | O_WRONLY, 0o600))
        }
        close(folder)
        let (rowCount, grown) = try await Self.purge(fixture, "\(count) entries")
        #expect(rowCount == count + 1)
        if let grown { #expect(grown < 16) }
    }

    @Test("a process that swaps folders for links all the time gains no victim")
    func race() async throws {
        let seconds = Self.size("EXPUNGED_FILES_RACE_S", 3)
        let fixture = try FilesFixture()
        for number in 0..<50 { try fixture.make("victim/a/b/\(number)") }
        try fixture.link("data/uploads/bait", to: fixture.base + "/victim")
        let store = try fixture.store("{user_id}")
        let attacker = try Attacker(root: fixture.root, victim: fixture.base + "/victim")
        var purges = 0
        var entries = 0
        let clock = ContinuousClock()
        let end = clock.now + .seconds(seconds)
        // On a slow machine it takes longer until the race took place.
        let limit = end + .seconds(300)
        while attacker.isRunning,
            clock.now < end || clock.now < limit && (purges <= 100 || entries <= 100)
        {
            let answers = await store.purge([try FilesFixture.order("alice")])
            purges += 1
            if case .done(let counts) = answers.first { entries += counts.entries[0].rowCount }
        }
        let rounds = try attacker.end()
        #expect(
            purges > 100 && entries > 100 && rounds > 100,
            "the race took place: \(purges), \(entries), \(rounds)"
        )
        let victims = (0..<50).count { !fixture.exists("victim/a/b/\($0)") }
        Swift.print(
            "bench: \(seconds) s of race, \(rounds) rounds, \(purges) purges of \(entries) entries,"
                + " \(victims) victims"
        )
        #expect(victims == 0 && fixture.exists("data/uploads/bait"))
    }
}

/// Another process, `Tests/Shared/swap_folders.c`, that changes alice's folders while they are
/// purged.
///
/// It ends when something comes from its standard input or that ends, so that nothing is left
/// however the test does.
private struct Attacker {
    private static let source = URL(fileURLWithPath: #filePath)
        .appendingPathComponent("../../../Shared/swap_folders.c").standardized

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    init(root: String, victim: String) throws {
        let program = root + "/../attacker"
        let compiler = Process()
        compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        compiler.arguments = ["clang", "-O1", "-o", program, Self.source.path]
        try compiler.run()
        compiler.waitUntilExit()
        guard compiler.terminationStatus == 0 else { throw Missing() }
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = [root, "alice", victim]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    var isRunning: Bool { process.isRunning }

    /// How many rounds it made.
    func end() throws -> Int {
        try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
        try input.fileHandleForWriting.close()
        let said = String(
            decoding: output.fileHandleForReading.readDataToEndOfFile(),
            as: UTF8.self
        )
        process.waitUntilExit()
        guard let rounds = Int(said.dropLast()) else { throw Missing() }
        return rounds
    }
}
