package import Lifecycle

/// The `Retry-After` header (RFC 9110 §10.2.3): seconds, or a date in the preferred form.
package enum RetryAfter {
    /// What the header asks for, clamped to 1 s … 24 h; `nil` for text that is neither form.
    ///
    /// A negative number or a past date is the least wait, a number too large to count the longest.
    package static func duration(_ text: String, now: WallTime) -> Duration? {
        let trimmed = text.drop { $0 == " " || $0 == "\t" }
        guard let first = trimmed.utf8.first else { return nil }
        let digits = first == UInt8(ascii: "-") ? trimmed.dropFirst() : trimmed
        if !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            if digits.count != trimmed.count { return Limits.retryAfterMin }
            return clamp(.seconds(Int64(digits).map { min($0, 1 << 40) } ?? 1 << 40))
        }
        return date(trimmed).map { clamp($0.since(now)) }
    }

    private static func clamp(_ duration: Duration) -> Duration {
        min(max(duration, Limits.retryAfterMin), Limits.backoffMax)
    }

    /// An IMF-fixdate such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
    ///
    /// The two obsolete forms are not read: a missing hint only means our own backoff.
    static func date(_ text: Substring) -> WallTime? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[0].hasSuffix(","), parts[5] == "GMT",
            let month = WallTime.monthNames.firstIndex(where: { $0 == parts[2] })
        else { return nil }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        return WallTime(rfc3339: "\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z")
    }
}
