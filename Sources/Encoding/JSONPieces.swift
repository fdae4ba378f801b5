/// Reads one JSON array or object of any length in pieces, as its bytes come.
///
/// Cuts only between members, and leaves the reading of each piece to ``JSONValue``. A name that
/// stands twice is noticed only within a piece.
package struct JSONPieces {
    /// The bytes are no such JSON, or one member is too long.
    package struct Malformed: Error {}

    /// Bytes of a piece at least, but for the last one.
    static let pieceMin = 65_536
    /// Bytes that may come without an end of a member.
    static let memberMax = 1 << 20

    /// What has come and is in no piece yet; begins with the bracket, as if it were the whole.
    private var bytes: [UInt8] = []
    /// How many of them were looked at.
    private var seenCount = 0
    /// Where the last member that has ended does so.
    private var end: Int?
    private var depth = 0
    private var isText = false
    private var isEscaped = false
    private var isCut = false

    package init() {}

    /// Takes the next bytes, cut anywhere, and returns the members that have ended once there are
    /// enough of them; never an empty piece.
    ///
    /// - Throws: ``Malformed``; what came before is not known to be right either.
    package mutating func take(_ part: some Sequence<UInt8>) throws(Malformed) -> JSONValue? {
        bytes.append(contentsOf: part)
        while seenCount < bytes.count {
            look(at: bytes[seenCount])
            seenCount += 1
        }
        guard bytes.count >= Self.pieceMin, let end else {
            guard bytes.count <= Self.memberMax else { throw Malformed() }
            return nil
        }
        // Only in an array or an object does a member end.
        let start = bytes.firstIndex { !Self.spaces.contains($0) } ?? 0
        let opening = bytes[start]
        let closing = opening == UInt8(ascii: "[") ? UInt8(ascii: "]") : UInt8(ascii: "}")
        let piece = try Self.piece(bytes[..<end] + [closing])
        bytes.replaceSubrange(...end, with: [opening])
        seenCount = bytes.count
        self.end = nil
        isCut = true
        return piece
    }

    /// Ends it, and returns what is left: any value where it all is shorter than a piece.
    package func finish() throws(Malformed) -> JSONValue {
        if isCut { return try Self.piece(bytes) }
        guard let value = JSONValue(bytes) else { throw Malformed() }
        return value
    }

    private static let spaces: [UInt8] = [0x20, 0x09, 0x0a, 0x0d]

    /// Reads members, of which there must be some: a comma stood beside them.
    private static func piece(_ bytes: some Sequence<UInt8>) throws(Malformed) -> JSONValue {
        switch JSONValue(Array(bytes)) {
        case .object(let members)? where !members.isEmpty: return .object(members)
        case .array(let elements)? where !elements.isEmpty: return .array(elements)
        default: throw Malformed()
        }
    }

    private mutating func look(at byte: UInt8) {
        guard !isText else {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isText = false
            }
            return
        }
        switch byte {
        case UInt8(ascii: "\""): isText = true
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
        case UInt8(ascii: ",") where depth == 1: end = seenCount
        default: break
        }
    }
}
