package import Lifecycle

/// A JSON object (RFC 8259), encoded while it is built.
///
/// Every textual view is redacted, since the body carries a token or a client secret.
package struct JSONBody: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private var members: [UInt8] = []

    /// Starts an empty object.
    package init() {}

    /// The whole object.
    package var bytes: [UInt8] { [UInt8(ascii: "{")] + members + [UInt8(ascii: "}")] }

    /// Adds one member.
    ///
    /// - Parameters:
    ///   - name: Ours, so it needs no escape.
    ///   - value: Any text.
    package mutating func add(_ name: StaticString, _ value: String) {
        add(name, utf8: value.utf8)
    }

    /// Adds one secret member; bytes that are not UTF-8 are repaired, since JSON is text.
    package mutating func add(_ name: StaticString, _ value: Secret) {
        add(name, utf8: value.exposeText().utf8)
    }

    /// Adds a list of texts.
    package mutating func add(_ name: StaticString, texts: [String]) {
        begin(name)
        members.append(UInt8(ascii: "["))
        for (index, text) in texts.enumerated() {
            if index > 0 { members.append(UInt8(ascii: ",")) }
            append(text: text.utf8)
        }
        members.append(UInt8(ascii: "]"))
    }

    /// Adds an object.
    package mutating func add(_ name: StaticString, object: JSONBody) {
        begin(name)
        members.append(contentsOf: object.bytes)
    }

    /// Adds a list of objects.
    package mutating func add(_ name: StaticString, list: [JSONBody]) {
        begin(name)
        members.append(UInt8(ascii: "["))
        for (index, object) in list.enumerated() {
            if index > 0 { members.append(UInt8(ascii: ",")) }
            members.append(contentsOf: object.bytes)
        }
        members.append(UInt8(ascii: "]"))
    }

    /// Adds a member that is `null`, whose name is text from outside.
    package mutating func addNull(named name: String) {
        if !members.isEmpty { members.append(UInt8(ascii: ",")) }
        append(text: name.utf8)
        members.append(contentsOf: ":null".utf8)
    }

    /// Adds an object of objects, whose names are text from outside.
    package mutating func add(_ name: StaticString, objects: [(name: String, body: JSONBody)]) {
        begin(name)
        members.append(UInt8(ascii: "{"))
        for (index, object) in objects.enumerated() {
            if index > 0 { members.append(UInt8(ascii: ",")) }
            append(text: object.name.utf8)
            members.append(UInt8(ascii: ":"))
            members.append(contentsOf: object.body.bytes)
        }
        members.append(UInt8(ascii: "}"))
    }

    /// Adds one number.
    package mutating func add(_ name: StaticString, _ value: Int) {
        begin(name)
        members.append(contentsOf: String(value).utf8)
    }

    /// Adds a truth value.
    package mutating func add(_ name: StaticString, flag: Bool) {
        begin(name)
        members.append(contentsOf: (flag ? "true" : "false").utf8)
    }

    private mutating func begin(_ name: StaticString) {
        if !members.isEmpty { members.append(UInt8(ascii: ",")) }
        append(text: name.description.utf8)
        members.append(UInt8(ascii: ":"))
    }

    private mutating func append(text: some Sequence<UInt8>) {
        members.append(UInt8(ascii: "\""))
        for byte in text { append(byte) }
        members.append(UInt8(ascii: "\""))
    }

    private mutating func add(_ name: StaticString, utf8: some Sequence<UInt8>) {
        begin(name)
        append(text: utf8)
    }

    /// Escapes what RFC 8259 §7 requires: quote, backslash and control characters.
    private mutating func append(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            members.append(UInt8(ascii: "\\"))
            members.append(byte)
        case 0..<0x20:
            let digits = Array("0123456789abcdef".utf8)
            members.append(contentsOf: "\\u00".utf8)
            members.append(digits[Int(byte >> 4)])
            members.append(digits[Int(byte & 0xf)])
        default: members.append(byte)
        }
    }

    package var description: String { "[redacted]" }
    package var debugDescription: String { "[redacted]" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
