import Lifecycle
import Synchronization
import Testing

@testable import Stores

@Suite("Names that no rule leads to")
struct UnmappedTreeTests {
    private static func rules(_ texts: [String]) throws -> [UnmappedTree.Rule] {
        try texts.map { UnmappedTree.Rule(try UserPath($0, in: .realtimeDatabase)) }
    }

    @Test("however many rules and users there are, a bounded number of places is looked at")
    func bounded() async throws {
        let asked = Mutex(0)
        var tree = UnmappedTree(list: { place in
            asked.withLock { $0 += 1 }
            let names = (0..<1000).map { "\($0)" }
            return UnmappedTree.Level(names: place.count > 1 ? ["profile", "posts"] : names)
        })
        try await tree.look(try Self.rules((0..<64).map { "\($0)/{user_id}/profile" }))
        #expect(asked.withLock(\.self) == UnmappedTree.placesMax)
        let samples = tree.findings([]).filter(\.isSample)
        #expect(samples.contains { $0.reason == "200 places were looked at, and there are more" })
    }

    @Test("the users that are looked into are spread over all of them")
    func spread() async throws {
        let places = Mutex<[String]>([])
        var tree = UnmappedTree(list: { place in
            places.withLock { $0.append(place.joined()) }
            return UnmappedTree.Level(
                names: place.isEmpty ? (0..<100).map { "\($0)" } : ["profile"]
            )
        })
        try await tree.look(try Self.rules(["{user_id}/profile"]))
        #expect(places.withLock(\.self).dropFirst() == ((0..<20).map { "\($0 * 5)" })[...])
    }

    @Test("a name of a rule is followed also where the listing did not come to it")
    func cut() async throws {
        var tree = UnmappedTree(list: { place in
            place.isEmpty
                ? UnmappedTree.Level(names: ["a"], isWhole: false)
                : UnmappedTree.Level(names: ["users", "logs"])
        })
        try await tree.look(try Self.rules(["z/users/{user_id}"]))
        let found = tree.findings([])
        #expect(found.filter { !$0.isCovered }.map(\.name) == ["a", "z/logs"])
        #expect(found.filter(\.isSample).map(\.name) == ["*"])
    }

    @Test("so many names that they are probably those of users are only counted")
    func many() async throws {
        var tree = UnmappedTree(list: { place in
            UnmappedTree.Level(names: place.isEmpty ? ["a"] : (0..<21).map { "\($0)" })
        })
        try await tree.look(try Self.rules(["a/x/{user_id}"]))
        let found = tree.findings([]).filter { !$0.isCovered }
        #expect(found.map(\.name) == ["a/*"])
        #expect(found.map(\.reason) == ["21 names or more, no rule leads there"])
    }

    /// What is told of a database with these paths, `!` before what no rule leads to.
    private static func findings(
        _ paths: [String],
        _ rules: [UnmappedTree.Rule]
    ) async throws -> [String] {
        let paths = paths.map { $0.split(separator: "/").map { String($0) } }
        var tree = UnmappedTree(list: { place in
            let below = paths.filter { $0.count > place.count && $0.starts(with: place) }
            return UnmappedTree.Level(names: Set(below.map { $0[place.count] }).sorted())
        })
        try await tree.look(rules)
        return tree.findings([]).map {
            "\($0.isSample ? "? " : "! ")\($0.name): \($0.reason)"
                .replacing(" or more, no rule leads there", with: "")
                .replacing(": no rule leads there", with: "")
        }
    }

    @Test(
        "below users a name is told without their ids, and what names one of them is counted",
        arguments: ["", "private/"]
    )
    func below(folder: String) async throws {
        let names = ["alice", "carol"].flatMap { user in
            ["profile", "bob", "backup-\(user)", "posts", "photos of bob", user].map {
                "users/\(user)/\(folder)\($0)"
            }
        }
        let own = ["diary", "dave"].map { "users/alice/\(folder)\($0)" }
        let found = try await Self.findings(
            names + own + ["users/bob/\(folder)profile", "logs/1"],
            try Self.rules(["users/{user_id}/\(folder)profile"])
        )
        let place = "users/{user_id}/\(folder)"
        #expect(
            found == [
                "! logs", "! \(place)backup-{user_id}", "! \(place)posts", "! \(place){user_id}",
                "! \(place)*: 6 names",
            ]
        )
    }

    @Test("beside users a name is told without the id in it, any other is counted")
    func beside() async throws {
        let names = [
            "x-alice-p", "x-bob-p", "x-carol-p", "x-alice-q", "x-bob-q", "x-alice", "x-alice-bob",
            "x-carol-bob", "x-alice-diary", "alice", "dave", "x-dave-q",
        ]
        let found = try await Self.findings(
            names.map { "u/\($0)" } + ["logs/1"],
            try Self.rules(["u/x-{user_id}-p"])
        )
        #expect(found == ["! logs", "! u/x-{user_id}", "! u/x-{user_id}-q", "! u/*: 6 names"])
    }

    @Test("below documents of any name, what one of them has or what names one is counted")
    func documents() async throws {
        let names = ["alice/bob", "alice/alice-old", "alice/likes", "alice/diary"]
        let found = try await Self.findings(
            (names + ["bob/likes", "carol/bob", "carol/carol-old"]).map { "posts/\($0)" },
            [UnmappedTree.Rule([.name("posts"), .any], takesAllBelow: false)]
        )
        #expect(found == ["! posts/*/likes", "! posts/*/*: 5 names"])
    }

    @Test("a name that a rule has beside users is no user's")
    func fixed() async throws {
        let found = try await Self.findings(
            ["alice/profile", "alice/settings", "carol/settings", "settings/alice"],
            try Self.rules(["{user_id}/profile", "settings/{user_id}"])
        )
        #expect(found == ["! {user_id}/settings"])
    }
}
