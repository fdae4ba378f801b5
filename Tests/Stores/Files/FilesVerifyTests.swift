import Engine
import Glibc
import Lifecycle
import Testing

@testable import Stores

/// The purge is given a mistake, and verification must tell: it looks another way.
@Suite("What verifies files does not believe what purged them") struct FilesVerifyTests {
    private let fixture: FilesFixture

    init() throws { fixture = try FilesFixture() }

    /// A store whose purge does not see entries of these names, neither removing nor counting.
    private func blind(to names: String..., paths: String...) throws -> FilesStore {
        let hidden = Set(names.map { FileName($0) })
        return FilesStore(
            StoreName("uploads"),
            root: fixture.root,
            paths: try paths.map { try PathPattern($0) },
            passesOver: { hidden.contains($0) }
        )
    }

    @Test("a file that the purge passes over is found")
    func passedOverFile() async throws {
        try fixture.make("data/uploads/avatars/alice.png")
        let store = try blind(to: "alice.png", paths: "avatars/{user_id}.png")
        let order = try FilesFixture.order("alice")
        #expect(await store.purge([order]).map(\.rowCounts) == [[0]])
        #expect(await store.verify([order]) == [.remaining(1)])
    }

    @Test("a folder that the purge passes over is found, also behind a wildcard")
    func passedOverFolder() async throws {
        try fixture.make("data/uploads/2024/alice/a/b/one")
        try fixture.make("data/uploads/2025/alice/two")
        let store = try blind(to: "alice", paths: "*/{user_id}")
        let order = try FilesFixture.order("alice")
        #expect(await store.purge([order]).map(\.rowCounts) == [[0]])
        #expect(await store.verify([order]) == [.remaining(2)])
    }

    @Test("a file that the purge passes over beside one that stays is found")
    func passedOverBesideNewer() async throws {
        try fixture.make("data/uploads/alice/passed")
        try fixture.make("data/uploads/alice/old")
        let cutoff = FilesFixture.now()
        // What is newer than the cutoff keeps the folder, so that no rmdir(2) shows the rest. The
        // clock of a file system goes in steps of some milliseconds.
        repeat {
            unsafe unlink(fixture.root + "/alice/new")
            try fixture.make("data/uploads/alice/new")
        } while try !isNewer("alice/new", than: cutoff)
        let store = try blind(to: "passed", paths: "{user_id}")
        let order = try FilesFixture.order("alice", cutoff: cutoff)
        #expect(await store.purge([order]).map(\.rowCounts) == [[1]])
        #expect(await store.verify([order]) == [.remaining(1)])
        #expect(fixture.exists("data/uploads/alice/new"))
        let sound = try fixture.store("{user_id}")
        #expect(await sound.purge([order]).map(\.rowCounts) == [[1]])
        #expect(await sound.verify([order]) == [.clean])
    }

    private func isNewer(_ path: String, than cutoff: WallTime) throws -> Bool {
        let folder = try OpenDirectory(root: fixture.root)
        return try #require(try folder.facts(at: FileName(path))).isNewer(than: cutoff)
    }

    @Test("a tree deeper than what stays open is counted, and found again on the way up")
    func comb() async throws {
        let depth = RemainingFiles.openMax * 3
        try fixture.make("data/uploads/alice/x")
        var folder = unsafe open(fixture.root + "/alice", O_RDONLY | O_DIRECTORY)
        for _ in 0..<depth {
            for name in ["a", "d", "z"] { unsafe mkdirat(folder, name, 0o700) }
            close(unsafe openat(folder, "z/f", O_CREAT | O_WRONLY, 0o600))
            close(unsafe openat(folder, "a/f", O_CREAT | O_WRONLY, 0o600))
            let next = unsafe openat(folder, "d", O_RDONLY | O_DIRECTORY)
            close(folder)
            folder = next
        }
        close(folder)
        let store = try fixture.store("{user_id}")
        // Two files a level, the first one, and the last folder, which is empty.
        let order = try FilesFixture.order("alice")
        #expect(await store.verify([order]) == [.remaining(2 * depth + 2)])
        let early = FilesFixture.now() - .seconds(3600)
        let before = try FilesFixture.order("alice", cutoff: early)
        #expect(await store.verify([before]) == [.remaining(1)])
    }

    @Test("counting ends where there is enough to go back to purging")
    func bound() async throws {
        try fixture.make("data/uploads/alice/x")
        let folder = unsafe open(fixture.root + "/alice", O_RDONLY | O_DIRECTORY)
        for number in 0..<(RemainingFiles.countMax + 5) {
            close(unsafe openat(folder, "\(number)", O_CREAT | O_WRONLY, 0o600))
        }
        close(folder)
        let order = try FilesFixture.order("alice")
        let store = try fixture.store("{user_id}")
        #expect(await store.verify([order]) == [.remaining(RemainingFiles.countMax)])
    }

    @Test("a link in the user's place counts, one on the way there is one order's failure")
    func links() async throws {
        try fixture.make("victim/cache/precious")
        try fixture.link("data/uploads/alice", to: fixture.base + "/victim")
        let order = try FilesFixture.order("alice")
        let (own, below) = (try fixture.store("{user_id}"), try fixture.store("{user_id}/cache"))
        #expect(await own.verify([order]) == [.remaining(1)])
        #expect(await below.verify([order]) == [.failure(.unusable)])
    }

    @Test("mounts where a path leads are told from others")
    func mountPoints() throws {
        let mounts = MountPoints(
            text: """
                22 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw
                30 22 0:26 / /srv/app/uploads rw - tmpfs none rw
                31 30 0:27 / /srv/app/uploads/files/a\\040b/x rw - tmpfs none rw
                32 30 0:28 / /srv/app/uploads/cache rw - tmpfs none rw
                33 22 0:29 / /srv/app/uploads2/files/u rw - tmpfs none rw
                """
        )
        let below = mounts.below("/srv//app/uploads/")
        #expect(below == [["files", "a b", "x"], ["cache"]])
        let path = try PathPattern("files/{user_id}")
        #expect(below.map { path.leads(through: $0) } == [true, false])
        #expect(path.leads(through: ["files"]) && !path.leads(through: ["file", "a"]))
        #expect(try PathPattern("f*/{user_id}.png").leads(through: ["files", "a.png"]))
        #expect(try !PathPattern("f*/{user_id}.png").leads(through: ["files", "a.jpg"]))
    }
}
