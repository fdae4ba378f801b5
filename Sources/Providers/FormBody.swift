package import Lifecycle

/// A body of type `application/x-www-form-urlencoded`, encoded while it is built.
///
/// Every byte but the unreserved ones (RFC 3986 §2.3) is percent-encoded. Nothing is refused and
/// nothing gets through: a CR LF or an `&` inside a token is data, never structure. Every textual
/// view is redacted, since the body carries a token and a client secret.
package struct FormBody: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private(set) var bytes: [UInt8] = []

    /// Starts an empty form; 2 KiB hold a client secret and a token without growing.
    package init() { bytes.reserveCapacity(2048) }

    /// Adds one field.
    ///
    /// - Parameters:
    ///   - name: Ours, so it is known to be unreserved text; encoded all the same.
    ///   - value: Any text.
    package mutating func add(_ name: StaticString, _ value: String) {
        beginField(name)
        for byte in value.utf8 { append(byte) }
    }

    /// Adds one field of raw bytes, such as a client assertion.
    package mutating func add(_ name: StaticString, _ value: [UInt8]) {
        beginField(name)
        for byte in value { append(byte) }
    }

    /// Adds one secret field, byte for byte.
    package mutating func add(_ name: StaticString, _ value: Secret) {
        beginField(name)
        value.withBytes { for byte in $0 { append(byte) } }
    }

    private mutating func beginField(_ name: StaticString) {
        if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
        for byte in name.description.utf8 { append(byte) }
        bytes.append(UInt8(ascii: "="))
    }

    private mutating func append(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            bytes.append(byte)
        default:
            bytes.append(UInt8(ascii: "%"))
            bytes.append(Self.digit(byte >> 4))
            bytes.append(Self.digit(byte & 0xf))
        }
    }

    private static func digit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "A") + nibble - 10
    }

    package var description: String { "[redacted]" }
    package var debugDescription: String { "[redacted]" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
