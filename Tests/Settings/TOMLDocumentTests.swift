import Stores
import Testing

@testable import Daemon
@testable import Lifecycle
@testable import Settings

@Suite("Lines of keys are found")
struct TOMLDocumentTests {
    private static let document = """
        # a comment with [brackets] and = signs
        top = 1
        [requests]
        grace_period = "a # no comment"  # a comment
        text = '''
        [fake]
        fake = 1
        '''''
        after.dotted = true
        [[provider]]
        name = "a"
        list = [
          "x", # [[y]]
          { k = 1, l = [2,
            3] },
        ]
        [[provider]]
        name = "b"
        [provider.sub]
        "quoted key" = \"""
        x \\\""" = 1
        \"""
        [[store]]
        [[store.table]]
        set = { a = { s = 1 }, b = { s = 2 } }
        [store.table.deep]
        x = 1
        [[store.table]]
        set.c.s = 1
        """

    @Test(
        "a key is found on its line",
        arguments: [
            ([.key("top")], 2),
            ([.key("requests"), .key("grace_period")], 4),
            ([.key("requests"), .key("text")], 5),
            ([.key("requests"), .key("after"), .key("dotted")], 9),
            ([.key("provider")], 10),
            ([.key("provider"), .index(0)], 10),
            ([.key("provider"), .index(0), .key("list"), .index(0)], 13),
            ([.key("provider"), .index(0), .key("list"), .index(1), .key("l")], 14),
            ([.key("provider"), .index(0), .key("list"), .index(1), .key("l"), .index(1)], 15),
            ([.key("provider"), .index(1)], 17),
            ([.key("provider"), .index(1), .key("name")], 18),
            ([.key("provider"), .index(1), .key("sub"), .key("quoted key")], 20),
            ([.key("store"), .index(0), .key("table"), .index(0), .key("set"), .key("b")], 25),
            ([.key("store"), .index(0), .key("table"), .index(0), .key("deep"), .key("x")], 27),
            (
                [
                    .key("store"), .index(0), .key("table"), .index(1), .key("set"), .key("c"),
                    .key("s"),
                ], 29
            ),
        ] as [([KeyStep], Int)]
    )
    func lines(path: [KeyStep], line: Int) throws {
        let locations = try TOMLDocument(Array(Self.document.utf8)).locations
        #expect(locations.isWritten(path))
        #expect(locations.line(of: path) == line)
    }

    @Test("what looks like a key inside a string is none")
    func strings() throws {
        let locations = try TOMLDocument(Array(Self.document.utf8)).locations
        #expect(!locations.isWritten([.key("fake")]))
        #expect(!locations.isWritten([.key("requests"), .key("fake")]))
    }

    @Test("a missing key is placed on the section that lacks it")
    func missing() throws {
        let locations = try TOMLDocument(Array(Self.document.utf8)).locations
        #expect(locations.line(of: [.key("provider"), .index(1), .key("kind")]) == 17)
        #expect(locations.line(of: [.key("vault")]) == 1)
    }
}

@Suite("What is not TOML is refused where it stands")
struct TOMLSyntaxTests {
    @Test(
        "a mistake is told with its line, its column and what helps",
        arguments: [
            (
                "[requests]\ndeadline = 7d\n",
                "2: cannot use this file (syntax): decimal integer: expected digit, saw 'd', at "
                    + "column 13; write texts and durations in quotes"
            ),
            (
                "[requests\n",
                "1: cannot use this file (syntax): table header: expected ']', saw '\\n', at "
                    + "column 10"
            ),
            (
                "[requests]\ndeadline = \"7d\n",
                "2: cannot use this file (syntax): the text in line 2 has no closing quote"
            ),
            (
                "[requests]\r\ndeadline = '7d\r\n",
                "2: cannot use this file (syntax): the text in line 2 has no closing quote"
            ),
            (
                "[requests]\ndeadline = \"7d",
                "2: cannot use this file (syntax): the text in line 2 has no closing quote"
            ),
            (
                "\n[[[[\n",
                "2: cannot use this file (syntax): a key or a value is missing, or begins with a "
                    + "wrong character, at column 3"
            ),
            (
                "[requests]\ndeadline = \"7d\"\ndeadline = \"8d\"\n",
                "3: cannot use this file (syntax): key-value pair: cannot redefine existing string "
                    + "'deadline', at column 12"
            ),
            (
                "[requests]\ndeadline = 1979-05-27\n",
                "2: cannot use requests.deadline (wrong_type): it is a date or time; write"
            ),
            (
                "[requests]\ndeadline = 1.5\n",
                "2: cannot use requests.deadline (wrong_type): it is a number with a fraction"
            ),
        ]
    )
    func mistakes(text: String, expected: String) {
        #expect(Sample.message(text).hasPrefix("t.toml:\(expected)"), "\(Sample.message(text))")
    }

    @Test("32 lists inside each other with dotted keys as long as a line do not end the process")
    func deep() {
        let keys = String(repeating: "a.", count: 2000) + "a = "
        let text =
            keys + String(repeating: "[\n{ \(keys)", count: 15) + "1"
            + String(repeating: "}\n]", count: 15)
        #expect(Sample.message(text).contains("t.toml:1: cannot use this file (too_deep)"))
    }
}

@Suite("The name that was meant is found")
struct NearestNameTests {
    @Test(
        "a typing error finds its key",
        arguments: [
            ("grace_perod", "grace_period"), ("graec_period", "grace_period"),
            ("Deadline", "deadline"), ("max_deletion_per_hour", "max_deletions_per_hour"),
        ]
    )
    func near(written: String, meant: String) {
        let names = Kinds.table.settings(in: .requests).map(\.name)
        #expect(NearestName.find(written, in: names) == meant)
    }

    @Test("something else finds nothing", arguments: ["x", "colour_of_the_sky", ""])
    func far(written: String) {
        let names = Kinds.table.settings(in: .requests).map(\.name)
        #expect(NearestName.find(written, in: names) == nil)
    }

    @Test("the distance counts swaps of neighbours once")
    func distance() {
        #expect(NearestName.distance("abcd", "abdc") == 1)
        #expect(NearestName.distance("", "abc") == 3)
        #expect(NearestName.distance("kitten", "sitting") == 3)
    }
}

@Suite("URLs say exactly one host")
struct EndpointURLTests {
    @Test(
        "a plain URL is read",
        arguments: [
            ("https://a.example", "a.example", false), ("https://a:8443/x/y", "a", false),
            ("http://127.0.0.1:80", "127.0.0.1", true), ("https://[::1]:9/", "::1", true),
            ("https://127.0.0.1.evil.example", "127.0.0.1.evil.example", false),
            ("http://localhost", "localhost", true),
        ]
    )
    func good(text: String, host: String, isLoopback: Bool) {
        #expect(EndpointURL(text)?.host == host)
        #expect(EndpointURL(text)?.isLoopback == isLoopback)
    }

    @Test(
        "anything that could name another host is refused",
        arguments: [
            "", "https://", "ftp://a", "https:/a", "https://u@a", "https://u:p@a", "https://a?b",
            "https://a#b", "https://a b", "https://a:0", "https://a:99999", "https://a:+1",
            "https://-a", "https://a..b", "https://[::1", "https://[::1]x", "https://ä.example",
            "https://a\\b", "HTTPS://a", "https://a\n",
        ]
    )
    func bad(text: String) {
        #expect(EndpointURL(text) == nil)
    }
}
