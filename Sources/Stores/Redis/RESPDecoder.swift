import NIOCore

/// Takes replies of Redis out of a stream of bytes.
struct RESPDecoder: ByteToMessageDecoder {
    typealias InboundOut = RESPValue

    /// No reply, or one that nothing we ask is answered by.
    struct Malformed: Error {}

    /// A reply to `SCAN` has a thousand keys; `HSCAN` brings the values along.
    static let byteCountMax = 64 << 20
    /// A cursor and a list of members are two levels.
    private static let depthMax = 4

    mutating func decode(
        context: ChannelHandlerContext,
        buffer: inout ByteBuffer
    ) throws -> DecodingState {
        guard buffer.readableBytes <= Self.byteCountMax else { throw Malformed() }
        let start = buffer.readerIndex
        guard let value = try Self.value(&buffer, depth: 0) else {
            buffer.moveReaderIndex(to: start)
            return .needMoreData
        }
        context.fireChannelRead(wrapInboundOut(value))
        return .continue
    }

    mutating func decodeLast(
        context: ChannelHandlerContext,
        buffer: inout ByteBuffer,
        seenEOF: Bool
    ) throws -> DecodingState {
        try decode(context: context, buffer: &buffer)
    }

    static func value(_ buffer: inout ByteBuffer, depth: Int) throws -> RESPValue? {
        guard depth < depthMax else { throw Malformed() }
        guard let kind = buffer.getInteger(at: buffer.readerIndex, as: UInt8.self),
            let line = try line(&buffer)
        else { return nil }
        switch kind {
        case UInt8(ascii: "+"): return .simple(Array(line))
        case UInt8(ascii: "-"):
            let word = line.prefix { $0 != UInt8(ascii: " ") }.prefix(32)
            return .error(String(decoding: word, as: UTF8.self))
        case UInt8(ascii: ":"): return .integer(try number(line))
        case UInt8(ascii: "$"): return try bulk(&buffer, count: try number(line))
        case UInt8(ascii: "*"):
            let count = try number(line)
            if count < 0 { return .null }
            guard count <= byteCountMax / 4 else { throw Malformed() }
            var values: [RESPValue] = []
            // No more than what came can hold, whatever the count says.
            values.reserveCapacity(min(count, buffer.readableBytes / 4))
            for _ in 0..<count {
                guard let value = try value(&buffer, depth: depth + 1) else { return nil }
                values.append(value)
            }
            return .array(values)
        default: throw Malformed()
        }
    }

    private static func bulk(_ buffer: inout ByteBuffer, count: Int) throws -> RESPValue? {
        if count < 0 { return .null }
        guard count <= byteCountMax else { throw Malformed() }
        guard buffer.readableBytes >= count + 2, let bytes = buffer.readBytes(length: count) else {
            return nil
        }
        guard buffer.readInteger(as: UInt16.self) == lineEnd else { throw Malformed() }
        return .bulk(bytes)
    }

    private static let lineEnd: UInt16 = 0x0d0a

    /// What stands behind the type, up to CR LF.
    private static func line(_ buffer: inout ByteBuffer) throws -> ByteBufferView? {
        let bytes = buffer.readableBytesView
        guard let end = bytes.firstIndex(of: 0x0a) else {
            guard bytes.count < 65_536 || bytes.first == 0x24 else { throw Malformed() }
            return nil
        }
        guard end - bytes.startIndex >= 2, bytes[end - 1] == 0x0d else { throw Malformed() }
        buffer.moveReaderIndex(to: end + 1)
        return bytes[(bytes.startIndex + 1)..<(end - 1)]
    }

    /// Each name has one: no text is made of it.
    private static func number(_ line: ByteBufferView) throws -> Int {
        let isNegative = line.first == UInt8(ascii: "-")
        let digits = isNegative ? line.dropFirst() : line
        guard !digits.isEmpty else { throw Malformed() }
        var value = 0
        for byte in digits {
            guard (0x30...0x39).contains(byte) else { throw Malformed() }
            let (tens, isBeyond) = value.multipliedReportingOverflow(by: 10)
            let (sum, isOver) = tens.addingReportingOverflow(Int(byte - 0x30))
            guard !isBeyond, !isOver else { throw Malformed() }
            value = sum
        }
        return isNegative ? -value : value
    }
}

/// A reply of Redis in version 2 of its protocol
/// (redis.io/docs/latest/develop/reference/protocol-spec).
///
/// Redacted, since keys hold user ids.
enum RESPValue: Equatable, Sendable, CustomStringConvertible, CustomReflectable {
    case simple([UInt8])
    /// The first word of an error, such as `NOPERM`; the rest may quote a key.
    case error(String)
    case integer(Int)
    case bulk([UInt8])
    case null
    case array([RESPValue])

    /// Bytes of a simple or bulk string.
    var bytes: [UInt8]? {
        switch self {
        case .simple(let bytes), .bulk(let bytes): bytes
        case .error, .integer, .null, .array: nil
        }
    }

    var integer: Int? {
        guard case .integer(let value) = self else { return nil }
        return value
    }

    /// Byte strings of an array; `nil` for anything else.
    var list: [[UInt8]]? {
        guard case .array(let values) = self else { return nil }
        let list = values.compactMap(\.bytes)
        return list.count == values.count ? list : nil
    }

    var description: String { "[redacted]" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
