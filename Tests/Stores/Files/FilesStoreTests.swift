import Engine
import Foundation
import Glibc
import Lifecycle
import Synchronization
import Testing

@testable import Stores

@Suite("Files")
struct FilesStoreTests {
    private let fixture: FilesFixture

    init() throws { fixture = try FilesFixture() }

    private func purge(_ store: FilesStore, _ order: PurgeOrder) async throws -> PurgeCounts {
        let answers = await store.purge([order])
        let answer = try #require(answers.first)
        guard case .done(let counts) = answer else {
            Issue.record("\(answer)")
            return PurgeCounts()
        }
        return counts
    }

    @Test("everything of one user goes, nothing of another, and the count is right")
    func purges() async throws {
        for user in ["alice", "bob", "alice2"] {
            try fixture.make("data/uploads/files/\(user)/a/b/one")
            try fixture.make("data/uploads/files/\(user)/two")
            try fixture.make("data/uploads/avatars/\(user).png")
        }
        let store = try fixture.store(
            "files/{user_id}",
            "avatars/{user_id}.png",
            "none/{user_id}"
        )
        let order = try FilesFixture.order("alice")
        #expect(await store.diagnose() == [])
        #expect(await store.verify([order]) == [.remaining(3)])
        let counts = try await purge(store, order)
        #expect(counts.entries.map(\.rowCount) == [5, 1, 0])
        #expect(
            counts.entries.map(\.name) == [
                "files/{user_id}", "avatars/{user_id}.png", "none/{user_id}",
            ]
        )
        #expect(!fixture.exists("data/uploads/files/alice"))
        #expect(!fixture.exists("data/uploads/avatars/alice.png"))
        for user in ["bob", "alice2"] {
            #expect(fixture.exists("data/uploads/files/\(user)/a/b/one"))
            #expect(fixture.exists("data/uploads/avatars/\(user).png"))
        }
        #expect(await store.verify([order]) == [.clean])
        #expect(try await purge(store, order).entries.map(\.rowCount) == [0, 0, 0])
    }

    @Test("wildcards take the folders they match, hidden ones and links excepted")
    func wildcards() async throws {
        try fixture.make("data/uploads/2024/alice/x")
        try fixture.make("data/uploads/2025/alice/x")
        try fixture.make("data/uploads/.trash/alice/x")
        try fixture.make("data/uploads/plain", "a file where folders are")
        try fixture.make("elsewhere/alice/x")
        try fixture.link("data/uploads/2026", to: fixture.base + "/elsewhere")
        let (store, order) = (try fixture.store("*/{user_id}"), try FilesFixture.order("alice"))
        guard case .items(let items) = await store.plan(order) else {
            Issue.record("no plan")
            return
        }
        #expect(items.map(\.action) == [.delete, .keep] && items.map(\.count) == [4, 2])
        #expect(items.last?.reason?.hasPrefix("in a hidden folder") == true)
        let counts = try await purge(store, order)
        #expect(counts.entries.map(\.rowCount) == [4, 2])
        #expect(counts.entries[1].passedOver == .hiddenFolder)
        #expect(counts.workedCount == 4)
        #expect(fixture.exists("data/uploads/.trash/alice/x"))
        #expect(fixture.exists("elsewhere/alice/x"))
    }

    @Test("a hidden folder that may not be entered is named and stops nobody")
    func closedFolder() async throws {
        try fixture.make("data/uploads/2024/alice/x")
        try fixture.make("data/uploads/.trash/x")
        try fixture.close("data/uploads/.trash")
        let store = try fixture.store("*/{user_id}")
        let counts = try await purge(store, try FilesFixture.order("alice"))
        try fixture.reopen("data/uploads/.trash")
        #expect(counts.entries.map(\.rowCount) == [2, 1])
        #expect(counts.entries[1].passedOver == .closedFolders)
        #expect(!fixture.exists("data/uploads/2024/alice/x"))
    }

    @Test("a link is removed and never followed")
    func links() async throws {
        try fixture.make("victim/precious")
        try fixture.make("data/uploads/alice/x")
        try fixture.link("data/uploads/alice/out", to: fixture.base + "/victim")
        try fixture.link("data/uploads/bob", to: fixture.base + "/victim")
        let store = try fixture.store("{user_id}")
        #expect(try await purge(store, try FilesFixture.order("alice")).entries[0].rowCount == 3)
        #expect(try await purge(store, try FilesFixture.order("bob")).entries[0].rowCount == 1)
        #expect(fixture.exists("victim/precious"))
        #expect(!fixture.exists("data/uploads/bob"))
    }

    @Test("a file that cannot be deleted is its user's failure, and all else of theirs goes")
    func immutable() async throws {
        for user in ["alice", "bob"] {
            for file in ["a/x", "b/y", "b/z", "c"] {
                try fixture.make("data/uploads/\(user)/\(file)")
            }
            try fixture.make("data/uploads/pictures/\(user).png")
        }
        let kept = "data/uploads/alice/b"
        try fixture.protect(kept)
        let store = try fixture.store("{user_id}", "pictures/{user_id}.png")
        let orders = try ["alice", "bob"].map { try FilesFixture.order($0) }
        let obstacle = EffectFailure.blocked(Obstacle(.permission, at: "{user_id}"))
        let answers = await store.purge(orders)
        #expect(answers[0] == .failure(obstacle))
        #expect(answers[1].rowCounts == [7, 1])
        #expect(fixture.exists(kept + "/y") && fixture.exists(kept + "/z"))
        for gone in ["alice/a", "alice/c", "pictures/alice.png", "bob"] {
            #expect(!fixture.exists("data/uploads/" + gone), "\(gone)")
        }
        #expect(await store.verify(orders) != [.clean, .clean])
        try fixture.unprotect(kept)
        #expect(await store.purge(orders).map(\.rowCounts) == [[4, 0], [0, 0]])
        #expect(await store.verify(orders) == [.clean, .clean])
    }

    @Test("a link in place of a folder of the pattern is one order's failure")
    func linkedFolder() async throws {
        try fixture.make("victim/cache/precious")
        try fixture.link("data/uploads/alice", to: fixture.base + "/victim")
        let store = try fixture.store("{user_id}/cache")
        let answers = await store.purge([
            try FilesFixture.order("alice"), try FilesFixture.order("bob"),
        ])
        #expect(answers.first == .failure(.unusable))
        #expect(answers.count == 2 && answers[1] != .failure(.unusable))
        #expect(fixture.exists("victim/cache/precious"))
    }

    @Test(
        "a user id that is no file name has no files, wherever it would lead",
        arguments: [
            "..", ".", "../victim", "a/b", ".expunged-root", String(repeating: "x", count: 255),
            // A slash that is a Character with what follows it.
            "../\u{301}victim", "a/\u{301}b", "a/\u{200d}b",
        ]
    )
    func hostileIDs(id: String) async throws {
        try fixture.make("data/victim/precious")
        try fixture.make("data/uploads/a/b/other")
        for name in ["data/\u{301}victim", "data/uploads/a/\u{301}b", "data/uploads/a/\u{200d}b"] {
            try fixture.make(name)
        }
        let store = try fixture.store("{user_id}", "x{user_id}")
        let counts = try await purge(store, try FilesFixture.order(id))
        #expect(counts.entries.map(\.rowCount) == [0, 0])
        for name in ["data/\u{301}victim", "data/uploads/a/\u{301}b", "data/uploads/a/\u{200d}b"] {
            #expect(fixture.exists(name))
        }
        #expect(fixture.exists("data/victim/precious"))
        #expect(fixture.exists("data/uploads/.expunged-root"))
        #expect(fixture.exists("data/uploads/a/b/other"))
    }

    @Test("users are listed as the purge names their files, whatever their ids begin or end with")
    func combiningIDs() async throws {
        let users = ["\u{301}zed", "bob", "ann\u{600}"]
        for user in users {
            try fixture.make("data/uploads/u-\(user)/x")
            try fixture.make("data/uploads/\(user).png")
        }
        for path in ["u-{user_id}", "{user_id}.png"] {
            let store = try fixture.store(path)
            guard case .found(let found) = await store.users(where: { _ in true }) else {
                Issue.record("no users")
                return
            }
            #expect(Set(found).isSuperset(of: users.compactMap { UserID($0) }), "\(path)")
        }
        let store = try fixture.store("u-{user_id}", "{user_id}.png")
        for user in users {
            let counts = try await purge(store, try FilesFixture.order(user))
            #expect(counts.entries.map(\.rowCount) == [2, 1])
        }
    }

    @Test("files made after the cutoff stay, with the folders above them")
    func cutoff() async throws {
        try fixture.make("data/uploads/alice/old/x")
        let now = FilesFixture.now()
        let store = try fixture.store("{user_id}")
        let before = try FilesFixture.order("alice", cutoff: now - .seconds(3600))
        let counts = try await purge(store, before)
        #expect(counts.entries.map(\.rowCount) == [0])
        #expect(counts.entries.map(\.newerCount) == [1])
        #expect(await store.verify([before]) == [.clean])
        #expect(fixture.exists("data/uploads/alice/old/x"))
        let after = try await purge(store, try FilesFixture.order("alice"))
        #expect(after.entries.map(\.rowCount) == [3])
    }

    @Test("names that are no UTF-8 are removed like any other")
    func oddNames() async throws {
        try fixture.make("data/uploads/alice/x")
        for name in ["\u{1}", "new\nline", "-rf", "*"] {
            try fixture.make("data/uploads/alice/\(name)")
        }
        let path = fixture.root + "/alice/"
        let bytes = Array(path.utf8).map { CChar(bitPattern: $0) } + [-1, -2, 0]
        let descriptor = unsafe open(bytes, O_CREAT | O_WRONLY, 0o600)
        #expect(descriptor >= 0)
        close(descriptor)
        let counts = try await purge(try fixture.store("{user_id}"), FilesFixture.order("alice"))
        #expect(counts.entries.map(\.rowCount) == [7])
    }

    @Test("a root without its sentinel, or with another store's, is never touched")
    func sentinel() async throws {
        try fixture.make("data/uploads/alice/x")
        let order = try FilesFixture.order("alice")
        let other = try fixture.store("{user_id}", name: "other")
        #expect(await other.purge([order]) == [.failure(.misconfigured)])
        #expect(await other.diagnose().first?.contains(".expunged-root") == true)
        let above = try fixture.store("{user_id}", root: fixture.base + "/data")
        #expect(await above.verify([order]) == [.failure(.misconfigured)])
        let missing = try fixture.store("{user_id}", root: fixture.base + "/nothing")
        #expect(await missing.purge([order]) == [.failure(.misconfigured)])
        #expect(fixture.exists("data/uploads/alice/x"))
    }

    @Test("a root behind a link is refused")
    func linkedRoot() async throws {
        try fixture.link("alias", to: fixture.base + "/data")
        let store = try fixture.store("{user_id}", root: fixture.base + "/alias/uploads")
        #expect(await store.purge([try FilesFixture.order("x")]) == [.failure(.misconfigured)])
        #expect(await store.diagnose().first?.contains("symbolic link") == true)
    }

    @Test(
        "the folders of the system are no roots",
        arguments: [
            "/", "/srv", "/home", "/etc/expunged", "/usr/share/app", "/var/lib",
            "/var/lib/expunged", "/var/lib/expunged/spool", "/srv/../etc", "relative/path",
        ]
    )
    func dangerousRoots(root: String) async throws {
        let store = try fixture.store("{user_id}", root: root)
        #expect(await store.diagnose().first?.contains("no folder to purge from") == true)
        #expect(await store.purge([try FilesFixture.order("x")]) == [.failure(.misconfigured)])
    }

    @Test(
        "a pattern that could reach too far is refused",
        arguments: [
            "", "/abs/{user_id}", "../{user_id}", "a/./{user_id}", "files", "{user_id}/{user_id}",
            "{user_id}*", "[{user_id}]", "{user_id}{user_id}", "a//{user_id}",
        ]
    )
    func patterns(text: String) {
        #expect(throws: MalformedTemplate.self) { try PathPattern(text) }
    }
}

@Suite("What a files store tells before it purges") struct FilesPlanTests {
    @Test("it counts without removing, and names what no path leads to")
    func plan() async throws {
        let fixture = try FilesFixture()
        for path in ["files/u1/a", "files/u1/b/c", "files/u2/a", "avatars/u1.png", "export/x"] {
            try fixture.make("data/uploads/" + path)
        }
        try fixture.make("data/uploads/avatars/u1.jpg")
        let store = try fixture.store("files/{user_id}", "avatars/{user_id}.png")
        let items: [PlanItem] = [
            .init(name: "files/{user_id}", action: .delete, count: 4),
            .init(name: "avatars/{user_id}.png", action: .delete, count: 1),
        ]
        #expect(await store.plan(try FilesFixture.order("u1")) == .items(items))
        #expect(fixture.exists("data/uploads/files/u1/b/c"))
        let findings: [CoverageFinding] = [
            .init(.covered, "avatars/", "leads to a configured path"),
            .init(.open, "avatars/{user_id}.jpg", "no configured path leads there"),
            .init(.open, "export/", "no configured path leads there"),
            .init(.covered, "files/", "leads to a configured path"),
        ]
        #expect(await store.coverage() == .findings(findings))
    }

    @Test("where a folder has more than is looked at, that is told")
    func partialCoverage() throws {
        let fixture = try FilesFixture()
        for number in 0..<2000 { try fixture.make("data/uploads/files/u\(number)") }
        let root = try OpenDirectory(root: fixture.base + "/data/uploads")
        let paths = [try PathPattern("files/{user_id}")]
        #expect(try PathCoverage(paths).findings(in: root).map(\.name) == ["files/"])
        let part = try PathCoverage(paths, entriesMax: 10).findings(in: root)
        #expect(part.filter { $0.reason.hasSuffix("the others not") }.map(\.name) == ["files/"])
    }
}
