import Lifecycle
import Testing

struct IdentifierTests {
    @Test func `an identifier has the layout of UUID version 7`() {
        var random = SeededGenerator(seed: 5)
        let time = WallTime(unixMilliseconds: 0x0199_1234_5678)
        for _ in 0..<500 {
            let id = TimeOrderedID(at: time, entropy: &random)
            let text = id.description
            #expect(text.utf8.count == 36)
            #expect(text.hasPrefix("01991234-5678-7"))
            #expect(id.low >> 62 == 0b10)
            #expect(TimeOrderedID(text) == id)
            #expect(TimeOrderedID(text.uppercased()) == id)
        }
    }

    @Test func `identifiers sort by their birth, and so does their text`() {
        var random = SeededGenerator(seed: 5)
        let ids = (0..<500).map {
            TimeOrderedID(at: Sample.start + .milliseconds($0), entropy: &random)
        }
        #expect(ids == ids.sorted())
        #expect(ids.map(\.description) == ids.map(\.description).sorted())
        #expect(Set(ids).count == ids.count)
    }

    @Test func `a time before 1970 counts as 1970`() {
        var random = SeededGenerator(seed: 5)
        let id = TimeOrderedID(at: WallTime(unixMilliseconds: -1), entropy: &random)
        #expect(id.description.hasPrefix("00000000-0000-7"))
    }

    @Test(
        "anything but the text form is refused",
        arguments: [
            "", "0199", "01991234-5678-7000-8000-00000000000",
            "01991234-5678-7000-8000-0000000000000", "0199123405678-7000-8000-000000000000",
            "01991234-5678-7000-8000-00000000000g", "01991234-5678-7000-8000-0000000000 0",
            "{1991234-5678-7000-8000-00000000000}", "-1991234-5678-7000-8000-000000000000",
            "01991234-5678-7000-8000-0000000000é",
        ]
    )
    func refused(_ text: String) {
        #expect(TimeOrderedID(text) == nil)
        #expect(RequestID(text) == nil)
        #expect(IdentityID(text) == nil)
    }

    /// User ids, and whether they are taken.
    static let userIDs: [(String, Bool)] = [
        ("u", true),
        (String(repeating: "a", count: 255), true),
        (String(repeating: "a", count: 256), false),
        // 127 × 2 bytes, and one byte too many.
        (String(repeating: "é", count: 127), true),
        (String(repeating: "é", count: 128), false),
        (" ", true),
        ("a b", true),
        ("user@example.com", true),
        ("\u{80}", true),
        ("", false),
        ("a\u{0}", false),
        ("\u{0}", false),
        ("a\u{1}", false),
        ("\u{1f}a", false),
        ("a\nb", false),
        ("a\tb", false),
        ("a\u{7f}", false),
    ]

    @Test("user ids are told apart by their bytes, also where they look the same")
    func sameLooks() throws {
        let users = try ["caf\u{e9}", "cafe\u{301}", "caf\u{e9}"].map { try #require(UserID($0)) }
        #expect(users[0] != users[1] && users[0] == users[2])
        #expect(Set(users).count == 2)
    }

    @Test("user ids are checked as the spool does", arguments: userIDs)
    func userID(_ text: String, _ isTaken: Bool) {
        #expect((UserID(text) != nil) == isTaken)
        #expect(UserID(text).map { $0.exposeText() == text } ?? true)
    }
}
