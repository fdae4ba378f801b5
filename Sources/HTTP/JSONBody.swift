import Encoding
package import Lifecycle

/// A JSON object (RFC 8259) that is sent, encoded while it is built; it carries a token or a client
/// secret.
package struct JSONBody: Sendable, Redacted {
    private var members = JSONWriter()

    package init() {}

    package var bytes: [UInt8] { [UInt8(ascii: "{")] + members.bytes + [UInt8(ascii: "}")] }

    package mutating func add(_ name: StaticString, _ value: String) {
        members.member(name.description, value)
    }

    /// Adds one secret; bytes that are not UTF-8 are repaired, since JSON is text.
    package mutating func add(_ name: StaticString, _ value: Secret) {
        members.member(name.description, value.exposeText())
    }

    package mutating func add(_ name: StaticString, _ value: Int) {
        members.member(name.description, value)
    }

    package mutating func add(_ name: StaticString, flag: Bool) {
        members.member(name.description, flag)
    }

    package mutating func add(_ name: StaticString, texts: [String]) {
        members.member(name.description, texts)
    }

    package mutating func add(_ name: StaticString, object: JSONBody) {
        members.name(name.description)
        members.encoded(object.bytes)
    }

    package mutating func add(_ name: StaticString, list: [JSONBody]) {
        members.member(name.description, list) { writer, object in writer.encoded(object.bytes) }
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
}
