import Lifecycle
import Synchronization
import Testing

@testable import Targets

@Suite("Names that no rule leads to")
struct StrayTreeTests {
    private static func rules(_ texts: [String]) throws -> [StrayTree.Rule] {
        try texts.map { StrayTree.Rule(try UserPath($0, in: .realtimeDatabase)) }
    }

    @Test("however many rules and users there are, a bounded number of places is looked at")
    func bounded() async throws {
        let asked = Mutex(0)
        var tree = StrayTree(list: { place in
            asked.withLock { $0 += 1 }
            let names = (0..<1000).map { "\($0)" }
            return StrayTree.Level(names: place.count > 1 ? ["profile", "posts"] : names)
        })
        try await tree.look(try Self.rules((0..<64).map { "\($0)/{user_id}/profile" }))
        #expect(asked.withLock(\.self) == StrayTree.placesMax)
        let samples = tree.findings([]).filter(\.isSample)
        #expect(samples.contains { $0.reason == "200 places were looked at, and there are more" })
    }

    @Test("the users that are looked into are spread over all of them")
    func spread() async throws {
        let places = Mutex<[String]>([])
        var tree = StrayTree(list: { place in
            places.withLock { $0.append(place.joined()) }
            return StrayTree.Level(names: place.isEmpty ? (0..<100).map { "\($0)" } : ["profile"])
        })
        try await tree.look(try Self.rules(["{user_id}/profile"]))
        #expect(places.withLock(\.self).dropFirst() == ((0..<20).map { "\($0 * 5)" })[...])
    }

    @Test("a name of a rule is followed also where the listing did not come to it")
    func cut() async throws {
        var tree = StrayTree(list: { place in
            place.isEmpty
                ? StrayTree.Level(names: ["a"], isWhole: false)
                : StrayTree.Level(names: ["users", "logs"])
        })
        try await tree.look(try Self.rules(["z/users/{user_id}"]))
        let found = tree.findings([])
        #expect(found.filter { !$0.isCovered }.map(\.name) == ["a", "z/logs"])
        #expect(found.filter(\.isSample).map(\.name) == ["*"])
    }

    @Test("so many names that they are probably those of users are only counted")
    func many() async throws {
        var tree = StrayTree(list: { place in
            StrayTree.Level(names: place.isEmpty ? ["a"] : (0..<21).map { "\($0)" })
        })
        try await tree.look(try Self.rules(["a/x/{user_id}"]))
        let found = tree.findings([]).filter { !$0.isCovered }
        #expect(found.map(\.name) == ["a/*"])
        #expect(found.map(\.reason) == ["21 names or more, no rule leads there"])
    }
}
