/// Makes text safe for a log line.
package enum LogText {
    /// Of one value: a provider's error page must not fill the journal.
    static let byteCountMax = 1024

    /// Escapes control and direction-changing characters as `\u{…}`.
    package static func sanitized(_ text: String) -> String {
        // Almost every value is short printable ASCII: nothing to build then.
        let bytes = text.utf8
        if bytes.count <= byteCountMax, bytes.allSatisfy({ (0x20...0x7e).contains($0) }) {
            return text
        }
        var safe = ""
        var byteCount = 0
        for scalar in text.unicodeScalars {
            let piece =
                isHarmful(scalar)
                ? "\\u{\(String(scalar.value, radix: 16))}" : String(Character(scalar))
            byteCount += piece.utf8.count
            // The mark of the cut takes three bytes.
            guard byteCount <= byteCountMax - 3 else { return safe + "…" }
            safe += piece
        }
        return safe
    }

    /// C0, DEL, C1, and the marks that reorder what a terminal shows (UAX #9 §2).
    private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0...0x1f, 0x7f...0x9f: true
        case 0x061c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069: true
        default: false
        }
    }
}
