import Encoding
package import Lifecycle

/// Fields of type `application/x-www-form-urlencoded`, encoded while they are added.
///
/// Serves as a body and as the query of a URL. Every byte but the unreserved ones is
/// percent-encoded, so a CR LF or an `&` inside a token is data, never structure. A form carries
/// tokens and client secrets.
package struct FormBody: Sendable, Redacted {
    package private(set) var bytes: [UInt8] = []

    /// 2 KiB hold a client secret and a token without growing.
    package init() { bytes.reserveCapacity(2048) }

    /// Adds one field, whose name is unreserved text.
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
        bytes += name.description.utf8
        bytes.append(UInt8(ascii: "="))
    }
}
