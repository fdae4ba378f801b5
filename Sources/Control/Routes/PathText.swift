import Encoding

/// Text inside a path or a query (RFC 3986).
package enum PathText {
    /// Decodes one segment or query part; `nil` for a broken escape, a character that RFC 3986 §3.3
    /// does not allow, or bytes that are not UTF-8.
    package static func decode(_ text: Substring) -> String? {
        // `pchar` without `+`, which some read as a space.
        PercentEncoding.decode(text.utf8) {
            PercentEncoding.isUnreserved($0) || "!$'()*,;:@".utf8.contains($0)
        }
    }

    static let nameByteCountMax = 64

    /// A configured name: 1 to 64 of letters, digits, `.`, `_` and `-`; `nil` otherwise.
    package static func componentName(_ text: String) -> String? {
        let isAllowed = text.utf8.allSatisfy {
            PercentEncoding.isUnreserved($0) && $0 != UInt8(ascii: "~")
        }
        return isAllowed && (1...nameByteCountMax).contains(text.utf8.count) ? text : nil
    }
}
