/// Writes JSON text into bytes, with the shortest escapes and no white space.
package struct JSONWriter {
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    package init() {
        bytes.reserveCapacity(512)
    }

    /// The bytes of one object; `body` writes its members.
    package static func object(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.object(body)
        return writer.bytes
    }

    /// Starts an object; `body` writes its members.
    package mutating func object(_ body: (inout JSONWriter) -> Void) {
        open(UInt8(ascii: "{"))
        body(&self)
        close(UInt8(ascii: "}"))
    }

    /// Starts an array; `body` writes its items.
    package mutating func array(_ body: (inout JSONWriter) -> Void) {
        open(UInt8(ascii: "["))
        body(&self)
        close(UInt8(ascii: "]"))
    }

    /// Writes an array, one call of `body` per item.
    package mutating func array<Item>(_ items: [Item], _ body: (inout JSONWriter, Item) -> Void) {
        open(UInt8(ascii: "["))
        for item in items { body(&self, item) }
        close(UInt8(ascii: "]"))
    }

    /// Writes the name of the next member.
    package mutating func name(_ name: String) {
        string(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a member that is a string, unless there is none.
    package mutating func member(_ name: String, _ text: String?) {
        guard let text else { return }
        self.name(name)
        string(text)
    }

    /// Writes a member that is an integer, unless there is none.
    package mutating func member<Number: BinaryInteger>(_ name: String, _ value: Number?) {
        guard let value else { return }
        self.name(name)
        raw("\(value)")
    }

    /// Writes a member that is a truth value.
    package mutating func member(_ name: String, _ value: Bool) {
        self.name(name)
        raw("\(value)")
    }

    /// Writes a member that is a list of strings.
    package mutating func member(_ name: String, _ texts: [String]) {
        member(name, texts) { writer, text in writer.string(text) }
    }

    /// Writes a member that is a list, one call of `body` per item, unless there is none.
    package mutating func member<Item>(
        _ name: String,
        _ items: [Item]?,
        _ body: (inout JSONWriter, Item) -> Void
    ) {
        guard let items else { return }
        self.name(name)
        array(items, body)
    }

    /// Writes a string with the escapes that RFC 8785 §3.2.2.2 has.
    package mutating func string(_ text: String) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        if text.utf8.allSatisfy(Self.isPlain) {
            bytes += text.utf8
        } else {
            escape(text)
        }
        bytes.append(UInt8(ascii: "\""))
        needsComma = true
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    private mutating func escape(_ text: String) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0x08: bytes += "\\b".utf8
            case 0x09: bytes += "\\t".utf8
            case 0x0a: bytes += "\\n".utf8
            case 0x0c: bytes += "\\f".utf8
            case 0x0d: bytes += "\\r".utf8
            case 0..<0x20:
                bytes += "\\u00".utf8
                bytes += Hexadecimal.encode([byte])
            default: bytes.append(byte)
            }
        }
    }

    /// Writes an integer, or `null` without one.
    package mutating func integer(_ value: Int64?) {
        raw(value.map { String($0) } ?? "null")
    }

    /// Writes bytes that are JSON text already.
    package mutating func encoded(_ json: [UInt8]) {
        separate()
        bytes += json
        needsComma = true
    }

    /// Writes any value.
    package mutating func value(_ value: JSONValue) {
        switch value {
        case .null: raw("null")
        case .bool(let value): raw(value ? "true" : "false")
        case .integer(let value): raw(String(value))
        case .number(let value): raw(value.isFinite ? "\(value)" : "null")
        case .string(let text): string(text)
        case .array(let items): array(items) { writer, item in writer.value(item) }
        case .object(let members):
            object { writer in
                for member in members {
                    writer.name(member.name)
                    writer.value(member.value)
                }
            }
        }
    }

    private mutating func open(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
    }

    private mutating func raw(_ text: String) {
        separate()
        bytes.append(contentsOf: text.utf8)
        needsComma = true
    }
}
