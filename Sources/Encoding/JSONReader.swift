/// Why bytes are not acceptable JSON; never repeats them.
package struct JSONError: Error, Sendable, Hashable {
    /// What is wrong there.
    package enum Kind: String, Sendable {
        case unexpectedByte = "unexpected byte"
        case unexpectedEnd = "unexpected end"
        case tooDeep = "nested too deeply"
        case duplicateName = "a name occurs twice in one object"
        case malformedNumber = "malformed number"
        case malformedText = "malformed text"
        case tooLarge = "too large"
    }

    package let kind: Kind
    /// Counted from 0.
    package let byteOffset: Int

    package init(kind: Kind, byteOffset: Int) {
        self.kind = kind
        self.byteOffset = byteOffset
    }
}

/// Reads one JSON text strictly (RFC 8259), with bounds on its depth and size.
///
/// Stricter than the RFC where it leaves a choice: no byte order mark, no duplicate names (§4), no
/// lone surrogates (§8.2), no number outside the range of a double (§6).
package struct JSONReader {
    private let bytes: [UInt8]
    private var position = 0
    private let depthMax: Int

    /// Arrays and objects inside each other.
    ///
    /// The deepest documented answer is a query of Firestore: two levels around each field, and
    /// three for each of up to 20 maps in it.
    package static let depthMax = 64
    /// Bytes; every caller reads less.
    package static let byteCountMax = 64 << 20

    private init(_ bytes: [UInt8], depthMax: Int) {
        self.bytes = bytes
        self.depthMax = depthMax
    }

    /// Reads exactly one value, with at most `depthMax` arrays and objects inside each other.
    package static func read(
        _ bytes: [UInt8],
        depthMax: Int = Self.depthMax
    ) throws(JSONError) -> JSONValue {
        guard bytes.count <= byteCountMax else {
            throw JSONError(kind: .tooLarge, byteOffset: byteCountMax)
        }
        var reader = JSONReader(bytes, depthMax: depthMax)
        reader.skipBlanks()
        let value = try reader.value(depth: 0)
        reader.skipBlanks()
        guard reader.position == bytes.count else { throw reader.failure(.unexpectedByte) }
        return value
    }

    private func failure(_ kind: JSONError.Kind) -> JSONError {
        JSONError(kind: position < bytes.count ? kind : .unexpectedEnd, byteOffset: position)
    }

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipBlanks() {
        while let byte = current, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 {
            position += 1
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard current == byte else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
        switch current {
        case UInt8(ascii: "{"): return try object(depth: depth + 1)
        case UInt8(ascii: "["): return try array(depth: depth + 1)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case .some(UInt8(ascii: "-")), .some(UInt8(ascii: "0")...UInt8(ascii: "9")):
            return try number()
        default: throw failure(.unexpectedByte)
        }
    }

    private mutating func literal(
        _ text: StaticString,
        _ value: JSONValue
    ) throws(JSONError) -> JSONValue {
        for byte in text.description.utf8 {
            guard take(byte) else { throw failure(.unexpectedByte) }
        }
        return value
    }

    private mutating func object(depth: Int) throws(JSONError) -> JSONValue {
        guard depth <= depthMax else { throw failure(.tooDeep) }
        position += 1
        var members: [JSONValue.Member] = []
        var names: Set<Name> = []
        skipBlanks()
        if take(UInt8(ascii: "}")) { return .object([]) }
        while true {
            skipBlanks()
            guard current == UInt8(ascii: "\"") else { throw failure(.unexpectedByte) }
            let name = try string()
            guard names.insert(Name(text: name)).inserted else { throw failure(.duplicateName) }
            skipBlanks()
            guard take(UInt8(ascii: ":")) else { throw failure(.unexpectedByte) }
            skipBlanks()
            members.append(JSONValue.Member(name, try value(depth: depth)))
            skipBlanks()
            if take(UInt8(ascii: "}")) { return .object(members) }
            guard take(UInt8(ascii: ",")) else { throw failure(.unexpectedByte) }
        }
    }

    private mutating func array(depth: Int) throws(JSONError) -> JSONValue {
        guard depth <= depthMax else { throw failure(.tooDeep) }
        position += 1
        var items: [JSONValue] = []
        skipBlanks()
        if take(UInt8(ascii: "]")) { return .array([]) }
        while true {
            skipBlanks()
            items.append(try value(depth: depth))
            skipBlanks()
            if take(UInt8(ascii: "]")) { return .array(items) }
            guard take(UInt8(ascii: ",")) else { throw failure(.unexpectedByte) }
        }
    }
}

/// A name, told from others by its bytes; see the subscript of members.
private struct Name: Hashable {
    let text: String

    static func == (left: Name, right: Name) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}

extension JSONReader {
    private mutating func digits() -> Int {
        let start = position
        while let byte = current, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            position += 1
        }
        return position - start
    }

    private mutating func number() throws(JSONError) -> JSONValue {
        let start = position
        _ = take(UInt8(ascii: "-"))
        let startsWithZero = current == UInt8(ascii: "0")
        let wholeCount = digits()
        guard wholeCount > 0, !startsWithZero || wholeCount == 1 else {
            throw failure(.malformedNumber)
        }
        var isInteger = true
        if take(UInt8(ascii: ".")) {
            isInteger = false
            guard digits() > 0 else { throw failure(.malformedNumber) }
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isInteger = false
            _ = take(UInt8(ascii: "+")) || take(UInt8(ascii: "-"))
            guard digits() > 0 else { throw failure(.malformedNumber) }
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isInteger, let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else {
            throw JSONError(kind: .malformedNumber, byteOffset: start)
        }
        return .number(number)
    }

    private mutating func string() throws(JSONError) -> String {
        position += 1
        let start = position
        while let byte = current, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"),
            byte >= 0x20
        {
            position += 1
        }
        guard current == UInt8(ascii: "\"") else { return try escapedString(from: start) }
        position += 1
        return try checkedText(bytes[start..<(position - 1)], at: start)
    }

    /// `String(validating:as:)` is generic code that is not specialized: thousands of instructions.
    private func checkedText(
        _ bytes: ArraySlice<UInt8>,
        at offset: Int
    ) throws(JSONError) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        // What is not UTF-8 was replaced.
        guard bytes.allSatisfy({ $0 < 0x80 }) || text.utf8.elementsEqual(bytes) else {
            throw JSONError(kind: .malformedText, byteOffset: offset)
        }
        return text
    }

    private mutating func escapedString(from start: Int) throws(JSONError) -> String {
        var text = Array(bytes[start..<position])
        while let byte = current {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return try checkedText(text[...], at: start)
            case UInt8(ascii: "\\"):
                position += 1
                try appendEscape(to: &text)
            case 0x20...:
                position += 1
                text.append(byte)
            default: throw failure(.malformedText)
            }
        }
        throw failure(.unexpectedEnd)
    }

    private mutating func appendEscape(to text: inout [UInt8]) throws(JSONError) {
        guard let byte = current else { throw failure(.unexpectedEnd) }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0c)
        case UInt8(ascii: "n"): text.append(0x0a)
        case UInt8(ascii: "r"): text.append(0x0d)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text.append(contentsOf: Array(String(try escapedScalar()).utf8))
        default:
            position -= 1
            throw failure(.malformedText)
        }
    }

    private mutating func escapedScalar() throws(JSONError) -> Character {
        let first = try hexUnit()
        if let scalar = Unicode.Scalar(first) { return Character(scalar) }
        guard first < 0xdc00, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
            throw failure(.malformedText)
        }
        let second = try hexUnit()
        guard (0xdc00...0xdfff).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00))
        else { throw failure(.malformedText) }
        return Character(scalar)
    }

    private mutating func hexUnit() throws(JSONError) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = current, let digit = Hexadecimal.value(byte) else {
                throw failure(.malformedText)
            }
            unit = unit << 4 | UInt32(digit)
            position += 1
        }
        return unit
    }
}

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
