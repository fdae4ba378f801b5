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
        case UInt8(ascii: "+"): return .simple(line)
        case UInt8(ascii: "-"):
            if let redirection = RedisRedirection(line) { return .redirection(redirection) }
            let word = line.prefix { $0 != UInt8(ascii: " ") }.prefix(32)
            return .error(String(decoding: word, as: UTF8.self))
        case UInt8(ascii: ":"): return .integer(try number(line))
        case UInt8(ascii: "$"): return try bulk(&buffer, count: try number(line))
        case UInt8(ascii: "*"):
            let count = try number(line)
            if count < 0 { return .null }
            guard count <= byteCountMax / 4 else { throw Malformed() }
            var values: [RESPValue] = []
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
        guard buffer.readBytes(length: 2) == [0x0d, 0x0a] else { throw Malformed() }
        return .bulk(bytes)
    }

    /// What stands behind the type, up to CR LF.
    private static func line(_ buffer: inout ByteBuffer) throws -> [UInt8]? {
        guard let end = buffer.readableBytesView.firstIndex(of: 0x0a) else {
            guard buffer.readableBytes < 65_536 || buffer.readableBytesView.first == 0x24 else {
                throw Malformed()
            }
            return nil
        }
        guard var line = buffer.readBytes(length: end + 1 - buffer.readerIndex),
            line.suffix(2) == [0x0d, 0x0a]
        else { throw Malformed() }
        line.removeLast(2)
        return Array(line.dropFirst())
    }

    private static func number(_ line: [UInt8]) throws -> Int {
        guard let value = Int(String(decoding: line, as: UTF8.self)) else { throw Malformed() }
        return value
    }
}
