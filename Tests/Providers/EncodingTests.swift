import Cryptography
import Encoding
import Lifecycle
import Testing

@testable import HTTP
@testable import Providers

@Suite("Encodings")
struct EncodingTests {
    @Test(
        "a form holds any bytes and none of them is structure",
        arguments: 0..<64 as Range<UInt64>
    )
    func formRoundTrip(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let value = (0..<200).map { _ in UInt8.random(in: 0...255, using: &random) }
        var form = FormBody()
        form.add("client_id", "a")
        form.add("token", Secret(value))
        let allowed = Set(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~%".utf8
        )
        let encoded = form.bytes.dropFirst("client_id=a&token=".utf8.count)
        #expect(encoded.allSatisfy { allowed.contains($0) })
        var decoded: [UInt8] = []
        var rest = encoded
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(byte)
                continue
            }
            decoded.append(
                try #require(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16))
            )
            rest = rest.dropFirst(2)
        }
        #expect(decoded == value)
    }

    @Test("base64url comes back, and only its one spelling is read")
    func base64URL() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + count) }
            var text: [UInt8] = []
            Base64URL.append(bytes, to: &text)
            #expect(Base64URL.decode(text) == bytes)
        }
        for text in ["A", "AB", "AAB", "AA==", "A+AA", "A/AA", "AA A", "AAAAé", "AAAA\n"] {
            #expect(Base64URL.decode(Array(text.utf8)) == nil)
        }
        #expect(Base64URL.decode(Array("_-8".utf8)) == [0xff, 0xef])
    }

    @Test(
        "SHA-256 gives the digests of FIPS 180-4 and of every padding length",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                String(repeating: "a", count: 55),
                "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"
            ),
            (
                String(repeating: "a", count: 64),
                "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"
            ),
            (
                String(repeating: "a", count: 1000),
                "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"
            ),
        ]
    )
    func sha256(_ message: String, digest: String) {
        let bytes = Array(message.utf8)
        #expect(Hexadecimal.text(SHA256.hash(bytes)) == digest)
    }

    @Test(
        "JSON is read strictly",
        arguments: [
            "", "{", "}", "[1,]", "{\"a\":1,}", "{a:1}", "{\"a\" 1}", "01", "1.", "-", "1e",
            "1e999", "tru",
            "\"\\x\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\u12\"", "\"a\nb\"", "\"a", "[1] 2",
            "{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":2}", "NaN", "+1", "'a'",
            String(repeating: "[", count: 65) + String(repeating: "]", count: 65),
        ]
    )
    func malformedJSON(_ text: String) {
        #expect(JSONValue(Array(text.utf8)) == nil)
    }

    @Test("JSON text comes out as it was meant")
    func json() throws {
        let text = #" {"a" : ["\u0041\n\ud83d\ude00é", -1.5e2, true, null, {}], "b":0} "#
        let value = try #require(JSONValue(Array(text.utf8)))
        #expect(value["a"]?.array?[0].string == "A\n😀é")
        #expect(value["a"]?.array?[1].number == -150)
        #expect(value["b"]?.number == 0)
        let deep = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        #expect(JSONValue(Array(deep.utf8)) != nil)
        let alike = try #require(JSONValue(Array("{\"\u{e9}\":1,\"e\u{301}\":2}".utf8)))
        #expect(alike["\u{e9}"]?.number == 1 && alike["e\u{301}"]?.number == 2)
    }

    @Test("nothing that holds a token, a body or a claim shows it")
    func redaction() throws {
        var form = FormBody()
        form.add("token", Secret("canary"))
        let json = try #require(
            JSONValue(Array(#"{"access_token":"canary","refresh_token":"canary"}"#.utf8))
        )
        let idToken = try IDTokenGenerator.token(
            claims: IDTokenGenerator.claims(["email": #""canary""#])
        )
        let values: [Any] = [
            form, RemoteReply(status: 400, body: Array("canary".utf8)), json,
            try #require(TokenGrant(json)), try #require(IDToken(Secret(idToken))),
            AppleHarness.credential(.refreshToken, "canary"),
        ]
        let bytes = "99, 97, 110"
        for value in values {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] {
                #expect(!text.contains("canary") && !text.contains(bytes))
            }
        }
    }

    @Test("a value of ours has one form, and is read strictly")
    func typed() throws {
        let value = ["b": "x/y", "a": "z"]
        #expect(try TypedJSON.text(value) == #"{"a":"z","b":"x/y"}"#)
        #expect(try TypedJSON.value([String: String].self, from: TypedJSON.bytes(value)) == value)
        #expect(throws: JSONError.self) {
            try TypedJSON.value([String: String].self, from: #"{"a":"1","a":"2"}"#.utf8)
        }
        #expect(throws: DecodingError.self) {
            try TypedJSON.value([String: String].self, from: #"{"a":1}"#.utf8)
        }
    }

    private struct Named: Codable, Equatable {
        var requestID = "r"
        var requestIDs = ["s"]
        var dueAt = 1
        var lastMs = 2
        var oldestOpenID: String? = "o"
        var countsByState = ["inFlight": 3, "on_hold": 4]
    }

    @Test("names in snake case come back, and keys of dictionaries stay as they are")
    func snakeCase() throws {
        let text = try TypedJSON.text(Named(), .snakeCase)
        #expect(
            text == #"{"counts_by_state":{"inFlight":3,"on_hold":4},"due_at":1,"last_ms":2,"#
                + #""oldest_open_id":"o","request_id":"r","request_ids":["s"]}"#
        )
        #expect(try TypedJSON.value(Named.self, from: text.utf8, .snakeCase) == Named())
    }
}
