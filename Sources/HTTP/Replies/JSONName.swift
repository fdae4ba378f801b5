/// The name of a member, told from others by its characters alone (RFC 8259 §8.3): Swift's own
/// comparison takes two ways to write an `é` for one.
package struct JSONName: Hashable, Sendable, ExpressibleByStringLiteral {
    package let text: String

    package init(_ text: String) { self.text = text }
    package init(stringLiteral text: String) { self.init(text) }

    package static func == (left: JSONName, right: JSONName) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}
