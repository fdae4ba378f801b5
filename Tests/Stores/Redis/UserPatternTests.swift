import Lifecycle
import Testing

@testable import Stores

@Suite("Names of Redis with a user id")
struct UserPatternTests {
    @Test(
        "a pattern that could reach another user is refused",
        arguments: [
            "", "user", "{user_id}*", "*{user_id}", "user:{user_id}*", "{user_id}:{user_id}",
            "u*x{user_id}", "{user_id}x*", "a\u{1}{user_id}", "{user_id}é*",
        ]
    )
    func refused(text: String) {
        #expect(throws: MalformedTemplate.self) { try UserPattern(text) }
    }

    @Test(
        "a name belongs to the user whose id is the whole component",
        arguments: [
            ("user:{user_id}", "user:1", 0), ("user:{user_id}", "user:12", 1),
            ("user:{user_id}", "user:123", nil), ("user:{user_id}", "user:", nil),
            ("s:{user_id}:*", "s:1:a:b", 0), ("s:{user_id}:*", "s:12:", 1),
            ("s:{user_id}:*", "s:1", nil), ("s:{user_id}:*", "xs:1:a", nil),
            ("*:{user_id}", "a:b:12", 1), ("*:{user_id}", "a:2:1:", nil),
            ("*:{user_id}:end*x", "a:12:end12x", 1), ("*:{user_id}:end*x", "a:1:end", nil),
            ("{{user_id}}:cart", "{1}:cart", 0), ("{user_id}.*", "12.x", 1),
        ] as [(String, String, Int?)]
    )
    func owner(text: String, name: String, index: Int?) throws {
        let pattern = try UserPattern(text)
        let users = [Array("1".utf8): 0, Array("12".utf8): 1]
        #expect(pattern.owner(of: Array(name.utf8), among: users) == index)
    }

    @Test("an id that holds the separator of a wildcard has no names")
    func separator() throws {
        let user = try #require(UserID("1:2"))
        #expect(try UserPattern("s:{user_id}:*").names(of: user) == nil)
        #expect(try UserPattern("s:{user_id}").names(of: user)?.exactName == Array("s:1:2".utf8))
    }

    @Test("what means something to the server is escaped")
    func escapes() throws {
        let user = try #require(UserID(#"a*?[b]^\-"#))
        let names = try #require(try UserPattern("k[:{user_id}:*").names(of: user))
        let escaped = #"k\[:a\*\?\[b\]\^\\\-:*"#
        #expect(String(decoding: names.serverPattern, as: UTF8.self) == escaped)
        #expect(names.matches(Array(#"k[:a*?[b]^\-:x"#.utf8)))
        #expect(!names.matches(Array("k[:axb:x".utf8)))
    }
}
