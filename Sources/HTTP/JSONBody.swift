import Encoding
package import Lifecycle

/// A JSON object (RFC 8259) that is sent, encoded while it is built.
///
/// Every textual view is redacted, since the body carries a token or a client secret.
package struct JSONBody: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private var members = JSONWriter()

    /// Starts an empty object.
    package init() {}

    /// The whole object.
    package var bytes: [UInt8] { [UInt8(ascii: "{")] + members.bytes + [UInt8(ascii: "}")] }

    /// Adds one text.
    package mutating func add(_ name: StaticString, _ value: String) {
        members.member(name.description, value)
    }

    /// Adds one secret; bytes that are not UTF-8 are repaired, since JSON is text.
    package mutating func add(_ name: StaticString, _ value: Secret) {
        members.member(name.description, value.exposeText())
    }

    /// Adds one number.
    package mutating func add(_ name: StaticString, _ value: Int) {
        members.member(name.description, Int64(value))
    }

    /// Adds a truth value.
    package mutating func add(_ name: StaticString, flag: Bool) {
        members.name(name.description)
        members.value(.bool(flag))
    }

    /// Adds a list of texts.
    package mutating func add(_ name: StaticString, texts: [String]) {
        members.name(name.description)
        members.array(texts) { writer, text in writer.string(text) }
    }

    /// Adds an object.
    package mutating func add(_ name: StaticString, object: JSONBody) {
        members.name(name.description)
        members.encoded(object.bytes)
    }

    /// Adds a list of objects.
    package mutating func add(_ name: StaticString, list: [JSONBody]) {
        members.name(name.description)
        members.array(list) { writer, object in writer.encoded(object.bytes) }
    }

    /// Adds a member that is `null`, whose name is text from outside.
    package mutating func addNull(named name: String) {
        members.name(name)
        members.value(.null)
    }

    /// Adds an object of objects, whose names are text from outside.
    package mutating func add(_ name: StaticString, objects: [(name: String, body: JSONBody)]) {
        members.name(name.description)
        members.object { writer in
            for object in objects {
                writer.name(object.name)
                writer.encoded(object.body.bytes)
            }
        }
    }

    package var description: String { "[redacted]" }
    package var debugDescription: String { "[redacted]" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
