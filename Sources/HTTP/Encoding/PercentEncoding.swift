/// Percent-encoding of everything but the unreserved characters (RFC 3986 §2.3).
package enum PercentEncoding {
    /// Appends the encoded form of `bytes`.
    package static func append(_ bytes: some Sequence<UInt8>, to text: inout [UInt8]) {
        for byte in bytes { append(byte, to: &text) }
    }

    /// As above; tokens and client secrets are unreserved as a whole and copied at once.
    package static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
        if bytes.allSatisfy(isUnreserved) {
            text += bytes
        } else {
            for byte in bytes { append(byte, to: &text) }
        }
    }

    /// Appends the encoded form of one byte.
    package static func append(_ byte: UInt8, to text: inout [UInt8]) {
        if isUnreserved(byte) {
            text.append(byte)
        } else {
            text.append(UInt8(ascii: "%"))
            text.append(digit(byte >> 4))
            text.append(digit(byte & 0xf))
        }
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func digit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "A") + nibble - 10
    }
}
