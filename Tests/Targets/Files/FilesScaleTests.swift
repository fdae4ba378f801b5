import Engine
import Foundation
import Glibc
import Lifecycle
import Synchronization
import Targets
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
        rowCount: Int, grown: Int
    ) {
        let target = try fixture.target("{user_id}")
        let order = try FilesFixture.order("alice")
        let memory = try PeakMemory()
        var left: [VerifyAnswer] = []
        let looked = await ContinuousClock().measure { left = await target.verify([order]) }
        Swift.print("bench: \(what) before the purge: \(left) in \(looked)")
        #expect(left != [.clean])
        var answers: [PurgeAnswer] = []
        let took = await ContinuousClock().measure { answers = await target.purge([order]) }
        let grown = try memory.grownMebibytes()
        Swift.print("bench: \(what) in \(took), \(grown) MiB more resident at most")
        let counts = try #require(answers.first?.rowCounts, "\(answers)")
        #expect(await target.verify([order]) == [.clean])
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
        #expect(grown < 48)
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
        #expect(grown < 16)
    }

    @Test("a process that swaps folders for links all the time gains no victim")
    func race() async throws {
        let seconds = Self.size("EXPUNGED_FILES_RACE_S", 3)
        let fixture = try FilesFixture()
        for number in 0..<50 { try fixture.make("victim/a/b/\(number)") }
        try fixture.link("data/uploads/bait", to: fixture.base + "/victim")
        let target = try fixture.target("{user_id}")
        let isOver = Atomic(false)
        let root = fixture.root
        let attacker = Thread {
            // alice/a is by turns a folder and a link to the victim's, as fast as rename(2) goes.
            while !isOver.load(ordering: .relaxed) {
                unsafe mkdir(root + "/alice", 0o700)
                unsafe mkdir(root + "/alice/a", 0o700)
                unsafe mkdir(root + "/alice/a/b", 0o700)
                unsafe symlink("../../../victim/a", root + "/alice/link")
                unsafe rename(root + "/alice/a", root + "/alice/c")
                unsafe rename(root + "/alice/link", root + "/alice/a")
                unsafe rename(root + "/alice/a", root + "/alice/link")
                unsafe rename(root + "/alice/c", root + "/alice/a")
                unsafe symlink("../../../../victim/a/b", root + "/alice/a/l")
                unsafe rename(root + "/alice/a/b", root + "/alice/a/c")
                unsafe rename(root + "/alice/a/l", root + "/alice/a/b")
            }
        }
        attacker.start()
        defer { isOver.store(true, ordering: .relaxed) }
        var purges = 0
        var entries = 0
        let clock = ContinuousClock()
        let end = clock.now + .seconds(seconds)
        while clock.now < end {
            let answers = await target.purge([try FilesFixture.order("alice")])
            purges += 1
            if case .done(let counts) = answers.first { entries += counts.entries[0].rowCount }
        }
        #expect(purges > 100 && entries > 100, "the race took place: \(purges), \(entries)")
        let victims = (0..<50).count { !fixture.exists("victim/a/b/\($0)") }
        Swift.print("bench: \(seconds) s of race, \(purges) purges, \(victims) victims")
        #expect(victims == 0)
    }
}
