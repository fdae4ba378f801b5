import NIOCore
import Testing

@testable import Stores

@Suite("Replies of Redis") struct RESPDecoderTests {
    @Test(
        "a reply is read, and a part of it is no reply yet",
        arguments: [
            ("+OK\r\n", RESPValue.simple(Array("OK".utf8))), ("+\r\n", .simple([])),
            (":-42\r\n", .integer(-42)), (":9223372036854775807\r\n", .integer(.max)),
            ("$3\r\na\r\n\r\n", .bulk(Array("a\r\n".utf8))), ("$0\r\n\r\n", .bulk([])),
            ("$-1\r\n", .null), ("*-1\r\n", .null), ("*0\r\n", .array([])),
            ("-ERR no\r\n", .error("ERR")),
            (
                "*2\r\n$1\r\n0\r\n*2\r\n$1\r\na\r\n$2\r\nbc\r\n",
                .array([
                    .bulk(Array("0".utf8)),
                    .array([.bulk(Array("a".utf8)), .bulk(Array("bc".utf8))]),
                ])
            ),
        ]
    )
    func replies(text: String, value: RESPValue) throws {
        let bytes = Array(text.utf8)
        // It need not stand at the beginning.
        var buffer = ByteBuffer(bytes: Array("+before\r\n".utf8) + bytes + Array("+x".utf8))
        #expect(try RESPDecoder.value(&buffer, depth: 0) == .simple(Array("before".utf8)))
        #expect(try RESPDecoder.value(&buffer, depth: 0) == value)
        #expect(buffer.readableBytes == 2)
        for count in 0..<bytes.count {
            var part = ByteBuffer(bytes: bytes.prefix(count))
            #expect(try RESPDecoder.value(&part, depth: 0) == nil, "\(count)")
        }
    }

    @Test(
        "what is no reply is refused",
        arguments: [
            "x\r\n", ":\r\n", ":-\r\n", ":4 2\r\n", ":9223372036854775808\r\n", "$x\r\n",
            "$1\r\nab\r\n", "*99999999999\r\n", "+OK\n", "\n",
        ]
    )
    func malformed(text: String) {
        var buffer = ByteBuffer(bytes: Array(text.utf8))
        #expect(throws: RESPDecoder.Malformed.self) {
            try RESPDecoder.value(&buffer, depth: 0)
        }
    }
}
