import Encoding
package import Lifecycle

/// Fields of type `application/x-www-form-urlencoded`, encoded while they are added.
///
/// Serves as a body and as the query of a URL. Every byte but the unreserved ones is
/// percent-encoded. Nothing is refused and nothing gets through: a CR LF or an `&` inside a token
/// is data, never structure. Every textual view is redacted, since a form carries a token and a
/// client secret.
package struct FormBody: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    package private(set) var bytes: [UInt8] = []

    /// Starts an empty form; 2 KiB hold a client secret and a token without growing.
    package init() { bytes.reserveCapacity(2048) }

    /// Adds one field.
    ///
    /// - Parameters:
    ///   - name: Ours, so it is known to be unreserved text.
    ///   - value: Any text.
    package mutating func add(_ name: StaticString, _ value: String) {
        beginField(name)
        PercentEncoding.append(value.utf8, to: &bytes)
    }

    /// Adds one field of raw bytes, such as a client assertion.
    package mutating func add(_ name: StaticString, _ value: [UInt8]) {
        beginField(name)
        PercentEncoding.append(value, to: &bytes)
    }

    /// Adds one secret field, byte for byte.
    package mutating func add(_ name: StaticString, _ value: Secret) {
        beginField(name)
        value.withBytes { PercentEncoding.append($0, to: &bytes) }
    }

    private mutating func beginField(_ name: StaticString) {
        if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
        for byte in name.description.utf8 { bytes.append(byte) }
        bytes.append(UInt8(ascii: "="))
    }

    package var description: String { "[redacted]" }
    package var debugDescription: String { "[redacted]" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
