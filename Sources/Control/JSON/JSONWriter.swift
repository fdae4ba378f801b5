/// Writes JSON text into bytes; the hot path of the server, hence not `JSONEncoder`.
package struct JSONWriter {
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    package init() {
        bytes.reserveCapacity(512)
    }

    /// Starts an object; `body` writes its members.
    package mutating func object(_ body: (inout JSONWriter) -> Void) {
        open(UInt8(ascii: "{"))
        body(&self)
        close(UInt8(ascii: "}"))
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
    package mutating func member(_ name: String, _ value: Int64?) {
        guard let value else { return }
        self.name(name)
        raw("\(value)")
    }

    /// Writes a string with the escapes of RFC 8259 §7.
    package mutating func string(_ text: String) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0..<0x20, 0x7f:
                let digits = Array("0123456789abcdef".utf8)
                bytes.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "u"), 0x30, 0x30])
                bytes.append(digits[Int(byte >> 4)])
                bytes.append(digits[Int(byte & 0xf)])
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
        needsComma = true
    }

    /// Writes any value.
    package mutating func value(_ value: JSONValue) {
        switch value {
        case .null: raw("null")
        case .boolean(let value): raw(value ? "true" : "false")
        case .integer(let value): raw("\(value)")
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
