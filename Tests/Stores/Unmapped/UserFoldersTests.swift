import Lifecycle
import Synchronization
import Testing

@testable import Stores

@Suite("What lies beside users' objects")
struct UserFoldersTests {
    /// What is told of a bucket, `!` before what no rule leads to.
    private static func findings(
        _ keys: [String],
        prefixes: [String] = [],
        objects: [String] = [],
        beside: Set<String> = []
    ) async throws -> [String] {
        let templates =
            try prefixes.map { try KeyTemplate($0, isPrefix: true) }
            + objects.map { try KeyTemplate($0, isPrefix: false) }
        var folders = UserFolders(templates) { place in
            let below = keys.filter { $0.hasPrefix(place) }.map { $0.dropFirst(place.count) }
            let names = below.map { key in
                key.firstIndex(of: "/").map { String(key[...$0]) } ?? String(key)
            }
            return UnmappedTree.Level(names: names)
        }
        try await folders.look()
        return folders.findings(beside: beside).filter { $0.reason != "configured" }.map {
            "\($0.isSample ? "? " : "! ")\($0.name): \($0.reason)"
                .replacing(", no rule leads there", with: "")
                .replacing(": no rule leads there", with: "")
        }
    }

    @Test("what a rule takes whole has nothing beside it but what is named otherwise")
    func whole() async throws {
        let keys = [
            "users/", "users/canary/a", "users/canary/b/c", "users/canary.json", "users/index",
            "users/index.html",
        ]
        #expect(
            try await Self.findings(keys, prefixes: ["users/{user_id}/"]) == [
                "! users/{user_id}.json", "! users/*: 2 objects",
            ]
        )
    }

    @Test(
        "where a rule goes on behind the user id, what is beside it is told",
        arguments: [
            ("u/{user_id}/a/cache/", true), ("u/{user_id}/a/cache/x", false),
            ("u/{user_id}/a/ca", true),
        ]
    )
    func behind(rule: String, isPrefix: Bool) async throws {
        let keys = [
            "u/canary/", "u/canary/a/cache/x", "u/canary/a/logs/x", "u/canary/mail/x",
            "u/canary/only here", "u/canary/p.json", "u/canary2/p.json", "u/canary2/mail/x",
            "u/canary/Divorce 2024/x", "u/canary2/a/logs/x",
        ]
        let found = try await Self.findings(
            keys,
            prefixes: isPrefix ? [rule] : [],
            objects: isPrefix ? [] : [rule]
        )
        #expect(
            found == [
                "! u/{user_id}/mail/", "! u/{user_id}/*/: 1 folders", "! u/{user_id}/p.json",
                "! u/{user_id}/*: 1 objects", "! u/{user_id}/a/logs/",
            ]
        )
    }

    @Test("a name with the id of somebody else who is there is counted, however many have it")
    func others() async throws {
        let users = ["alice", "bob", "carol"].flatMap { ["u/\($0)/cache/x", "dms/x-\($0).json"] }
        let shared = ["alice", "carol"].flatMap { user in
            [
                "u/\(user)/bob/x", "u/\(user)/notes for bob.txt", "u/\(user)/mail/x",
                "dms/x-\(user)-bob.txt", "dms/x-\(user)-old.txt",
            ]
        }
        let found = try await Self.findings(
            users + shared + ["dms/x-alice.bob"],
            prefixes: ["u/{user_id}/cache/"],
            objects: ["dms/x-{user_id}.json"]
        )
        #expect(
            found == [
                "! dms/x-{user_id}-old.txt", "! dms/*: 3 objects", "! u/{user_id}/mail/",
                "! u/{user_id}/*/: 2 folders", "! u/{user_id}/*: 2 objects",
            ]
        )
    }

    @Test("a folder above users is told unless it has the id of one of them")
    func above() async throws {
        let above: Set = ["alice/", "p/bob-old/", "p/alices/", "logs/", "q/*"]
        let many = Set((0..<21).map { "\($0)/" })
        for (folders, told) in [
            (above, ["! logs/", "! p/alices/", "! q/*", "! */: 1 folders", "! p/*/: 1 folders"]),
            (above.union(many), ["! *: 26 folders or more"]),
        ] {
            let found = try await Self.findings(
                ["u-alice/x", "p/q/bob.png"],
                prefixes: ["u-{user_id}/"],
                objects: ["p/q/{user_id}.png"],
                beside: folders
            )
            #expect(found == told)
        }
    }

    @Test("a name there may have text around the user id, and other rules lead through")
    func environment() async throws {
        let keys = [
            "p/x-canary-1.png", "p/x-canary-1.webp", "p/canary/a", "p/y-canary/a",
            "p/deep/canary/a", "z-canary-old.txt", "z-canary.txt", "other.txt",
        ]
        let found = try await Self.findings(
            keys,
            prefixes: ["p/y-{user_id}/", "p/deep/{user_id}/", "z-{user_id}."],
            objects: ["p/x-{user_id}.png"]
        )
        #expect(
            found == [
                // The look at the folders above tells those that have no rule.
                "! *: 1 objects", "! p/x-{user_id}.webp",
            ]
        )
    }

    @Test("however many users there are, a bounded number of places is looked at")
    func bounded() async throws {
        let asked = Mutex(0)
        let templates = try (0..<64).map {
            try KeyTemplate("\($0)/{user_id}/cache/", isPrefix: true)
        }
        var folders = UserFolders(templates) { place in
            asked.withLock { $0 += 1 }
            let names = (0..<1000).map { "canary-\($0)/" }
            let isUser = place.contains("canary")
            return UnmappedTree.Level(names: isUser ? ["cache/", "x/"] : names, isWhole: isUser)
        }
        try await folders.look()
        #expect(asked.withLock(\.self) == UnmappedTree.placesMax)
        let found = folders.findings
        #expect(found.filter { !$0.isCovered }.contains { $0.name == "0/{user_id}/x/" })
        let samples = found.filter(\.isSample).map { "\($0.name): \($0.reason)" }
        for text in [
            "*: 200 folders were looked at, and there are more",
            "0/: the first 1000 names were looked at",
            "0/{user_id}/: 20 of 1000 were looked into",
        ] { #expect(samples.contains(text)) }
        #expect(!found.contains { $0.name.contains("canary") })
    }
}
