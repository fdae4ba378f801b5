import Lifecycle
import Testing

@testable import Encoding
@testable import HTTP

@Suite("JSON in pieces") struct JSONPiecesTests {
    /// What the pieces of a text have, parts of it given as they come; `nil` when it is refused.
    private static func read(_ text: String, partMax: Int = 5000) -> (names: [String], count: Int)?
    {
        var random = SeededGenerator(seed: UInt64(text.utf8.count))
        var pieces = JSONPieces()
        var names: [String] = []
        var count = 0
        var rest = Array(text.utf8)[...]
        do {
            while !rest.isEmpty {
                let part = rest.prefix(.random(in: 1...partMax, using: &random))
                rest = rest.dropFirst(part.count)
                guard let piece = try pieces.take(part) else { continue }
                names += Self.names(piece)
                count += 1
            }
            return (names + Self.names(try pieces.finish()), count + 1)
        } catch {
            return nil
        }
    }

    /// The names of an object, or the elements of an array that are texts.
    private static func names(_ json: JSONValue) -> [String] {
        switch json {
        case .object(let members): members.map(\.name).sorted()
        case .array(let elements): elements.map { $0.string ?? "-" }
        case .string, .integer, .number, .bool, .null: ["\(json.number ?? 0)"]
        }
    }

    private static let many = (0..<20_000).map { #"k,}]{[:"\#($0)é"# }

    private static func text(_ name: String) -> String {
        #""\#(name.replacing("\"", with: #"\""#))""#
    }

    private static let object =
        "{" + many.map { "\(text($0)) :{\"a\":[1,2], \"b\":\"},\"}" }.joined(separator: ", ") + "} "
    private static let array =
        " [" + many.map { text($0) }.joined(separator: ",") + ",null,{\"a\":[1,2]}]"

    @Test("each member comes once, wherever the bytes are cut", arguments: [1, 700, 70_000])
    func members(partMax: Int) throws {
        let members = try #require(Self.read(Self.object, partMax: partMax))
        #expect(members.names.count == Self.many.count)
        #expect(Set(members.names) == Set(Self.many))
        let elements = try #require(Self.read(Self.array, partMax: partMax))
        #expect(elements.names == Self.many + ["-", "-"])
        if partMax < 70_000 { #expect(members.count > 10 && elements.count > 5) }
    }

    @Test(
        "what is short is any value",
        arguments: [
            ("null", ["0.0"]), (" 7 ", ["7.0"]), ("{}", []), ("[]", []),
            (#"{"a":true,"b":1}"#, ["a", "b"]), ("[null,\"x\"]", ["-", "x"]),
        ]
    )
    func short(text: String, names: [String]) throws {
        #expect(try #require(Self.read(text, partMax: 2)).names == names)
    }

    @Test("what is no JSON is refused, however long it is")
    func malformed() {
        let (object, array) = (Self.object, Self.array)
        let wrong: [String] = [
            "", "{", "nul", "<html>", "{}}", "{\"a\":1,}", "[1,]", "{,}", "{\"a\":1]", "7 7",
            String(object.dropLast(2)), String(object.dropLast(2)) + "]",
            String(object.dropLast(2)) + ",}", object + "{}", object + array,
            String(array.dropLast()), String(array.dropLast()) + ",]", array + ",1",
            "{" + String(repeating: " ", count: 100_000) + "," + object.dropFirst(),
            "{}" + object, "[]," + array, "[1][2" + array.dropFirst(2),
            object.replacing("k,}]{[:\\\"777é\"", with: "\\ud800\""),
            object.replacing("\"k,}]{[:\\\"777é\" :", with: ""),
            object.replacing("\"k,}]{[:\\\"777é\"", with: "k"),
            "[" + Self.text(String(repeating: "x", count: JSONPieces.memberMax + 5000)) + ",1]",
        ]
        for text in wrong {
            let isRefused = Self.read(text) == nil
            #expect(isRefused, "\(text.prefix(40)) … \(text.suffix(10))")
        }
    }
}
