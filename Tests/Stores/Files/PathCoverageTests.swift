import Lifecycle
import Testing

@testable import Stores

@Suite("What lies beside users' files")
struct PathCoverageTests {
    private let fixture: FilesFixture

    init() throws { fixture = try FilesFixture() }

    /// What is told of a tree, `!` before what no path leads to.
    private func findings(_ paths: String...) throws -> [String] {
        let root = try OpenDirectory(root: fixture.root)
        let found = try PathCoverage(paths.map { try PathPattern($0) }).findings(in: root)
        return found.filter { $0.reason != "leads to a configured path" }.map {
            "\($0.isSample ? "? " : "! ")\($0.name): \($0.reason)"
                .replacing(", no configured path leads there", with: "")
                .replacing(": no configured path leads there", with: "")
        }
    }

    private func make(_ paths: String...) throws {
        for path in paths { try fixture.make("data/uploads/" + path) }
    }

    @Test("what some users share in their folders is told by name, never whose it is")
    func besideRest() throws {
        try make(
            "users/canary-1/cache/a",
            "users/canary-1/exports/a",
            "users/canary-1/about-canary-1/a",
            "users/canary-1/Divorce 2024/a",
            "users/canary-1/canary-1.vcf",
            "users/canary-1/holidays with bob.jpg",
            "users/canary-2/cache/a",
            "users/canary-2/exports/a",
            "users/canary-2/about-canary-2/a",
            "users/canary-2/canary-2.vcf",
            "users/canary-3/cache"
        )
        #expect(
            try findings("users/{user_id}/cache") == [
                "! users/{user_id}/*: 1 files", "! users/{user_id}/*/: 1 folders",
                "! users/{user_id}/about-{user_id}/", "! users/{user_id}/exports/",
                "! users/{user_id}/{user_id}.vcf",
            ]
        )
    }

    @Test("a name with the id of somebody else who is there is counted, however many have it")
    func others() throws {
        for user in ["alice", "bob", "carol"] {
            try make("users/\(user)/cache/a", "dms/x-\(user).json")
        }
        for user in ["alice", "carol"] {
            try make(
                "users/\(user)/app/bob/a",
                "users/\(user)/app/notes for bob.txt",
                "users/\(user)/app/mail/a",
                "dms/x-\(user)-bob.txt",
                "dms/x-\(user)-old.txt"
            )
        }
        try make("dms/x-alice.bob", "dms/bob/a")
        #expect(
            try findings("users/{user_id}/app/cache", "dms/x-{user_id}.json") == [
                "! dms/*: 3 files", "! dms/*/: 1 folders", "! dms/x-{user_id}-old.txt",
                "! users/{user_id}/app/*: 2 files", "! users/{user_id}/app/*/: 2 folders",
                "! users/{user_id}/app/mail/", "! users/{user_id}/cache/",
            ]
        )
    }

    @Test("what one user has in several folders is still only theirs")
    func sameUser() throws {
        try make("2024/u/canary/Divorce/a", "2025/u/canary/Divorce/a", "2025/u/canary/cache/a")
        try make("2024/canary.png", "2024/canary-bob.txt", "2025/canary.png", "2025/canary-bob.txt")
        #expect(
            try findings("20*/u/{user_id}/cache", "20*/{user_id}.png") == [
                "! 20*/*: 2 files", "! 20*/u/{user_id}/*/: 2 folders",
            ]
        )
    }

    @Test("a path of several names behind the user id is followed, and so is a wildcard")
    func deeper() throws {
        try make(
            "u-canary/app/cache/a",
            "u-canary/app/logs/a",
            "u-canary/mail/a",
            "u-canary-2/app/logs/a",
            "logs/a",
            "2024/thumbs/canary",
            "2024/covers/a",
            "2025/thumbs/canary",
            "2025/readme"
        )
        #expect(
            try findings("u-{user_id}/app/cache", "20*/thumbs/{user_id}") == [
                "! 20*/*: 1 files", "! 20*/covers/", "! logs/", "! u-{user_id}/*/: 1 folders",
                "! u-{user_id}/app/logs/",
            ]
        )
    }

    @Test("what is named after a user like the user's own is told by its ending")
    func besideUsers() throws {
        try make(
            "avatars/canary.png",
            "avatars/canary.webp",
            "avatars/canary/a",
            "avatars/canary.x.png",
            "avatars/canary.x.webp",
            "avatars/canary-with-bob.jpg",
            "avatars/canary-small.jpg",
            "avatars/canary.x-small.jpg",
            "avatars/canary-gone.webp",
            "avatars/canary-nobody/a"
        )
        #expect(
            try findings("avatars/{user_id}.png") == [
                // The picture with bob, and what has the id of nobody who is there.
                "! avatars/*: 2 files", "! avatars/*/: 1 folders",
                "! avatars/{user_id}-small.jpg", "! avatars/{user_id}.webp", "! avatars/{user_id}/",
            ]
        )
    }

    @Test("of many users some are looked into, which is told; a file in place of a folder is none")
    func sampled() throws {
        for number in 0..<100 { try make("users/canary-\(number)/cache/a") }
        #expect(
            try findings("users/{user_id}/cache") == [
                "? users/{user_id}: 20 of 100 were looked into"
            ]
        )
        #expect(
            try findings("{user_id}/canary-1/nothing") == [
                "! {user_id}/*/: 99 folders", "! {user_id}/canary-1/*/: 1 folders",
            ]
        )
        try make("files/canary")
        #expect(try findings("files/{user_id}/cache", "users/{user_id}") == ["! files/*: 1 files"])
    }

    @Test("a short id is part of many a word, and taken out where it is one itself")
    func masks() {
        #expect(UserMask.masked("v1-cache", "1") == "v1-cache")
        #expect(UserMask.masked("cache-1.1-x", "1") == "cache-{user_id}.{user_id}-x")
        #expect(UserMask.masked("2024alice", "alice") == "2024{user_id}")
    }

    @Test("of somebody else's id every part is looked at, and too many parts are taken to have one")
    func otherIDs() {
        #expect(UserMask.hasOther("{user_id}-with-_bob.x.jpg") { $0 == "_bob.x" })
        #expect(!UserMask.hasOther("{user_id}-bobs.jpg/") { ["bob", "id", "user"].contains($0) })
        #expect(!UserMask.hasOther("{user_id}...-") { _ in true })
        #expect(!UserMask.hasOther(String(repeating: "a-", count: 15)) { _ in false })
        #expect(UserMask.hasOther(String(repeating: "a-", count: 16)) { _ in false })
    }

    @Test("some of many are spread over all of them", arguments: [0, 1, 20, 21, 40, 41, 1000])
    func spread(count: Int) {
        var sample = SpreadSample<Int>(max: 20)
        for number in 0..<count { sample.add(number) }
        let chosen = sample.elements
        #expect(chosen.count == min(count, 20) && sample.count == count)
        #expect(chosen == Array(Set(chosen)).sorted())
        if let last = chosen.last { #expect(last >= count - 1 - count / 10 && chosen[0] == 0) }
    }
}
