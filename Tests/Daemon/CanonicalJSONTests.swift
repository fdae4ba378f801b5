import Control
import Encoding
import Testing

@testable import Daemon

struct CanonicalJSONTests {
    /// The cases of RFC 8785 §3.2.2 and §3.2.3 that names in ASCII and integers leave.
    private static let cases: [(JSONValue, String)] = [
        (.null, "null"), (.bool(true), "true"), (.integer(-7), "-7"),
        (
            .string("\u{20ac}$\u{0f}\nA'B\"\\\"/\u{7f}\u{1f}"),
            "\"\u{20ac}$\\u000f\\nA'B\\\"\\\\\\\"/\u{7f}\\u001f\""
        ),
        (.string("\u{8}\t\u{c}\r"), #""\b\t\f\r""#),
        (.array([]), "[]"), (.object([]), "{}"),
        (
            .object([
                .init("b_", .integer(1)), .init("b", .array([.integer(2), .bool(false)])),
                .init("A", .object([.init("z", .null), .init("y", .string(""))])),
            ]),
            #"{"A":{"y":"","z":null},"b":[2,false],"b_":1}"#
        ),
    ]

    @Test(arguments: cases)
    func `one value has one text`(_ value: JSONValue, _ text: String) {
        #expect(String(decoding: value.canonicalBytes, as: UTF8.self) == text)
    }
}
