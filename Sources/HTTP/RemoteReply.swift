import Encoding
package import Lifecycle
import Synchronization

/// A complete answer of a provider; the body may hold tokens and may echo what was sent.
package struct RemoteReply: Sendable, Redacted {
    package internal(set) var status: Int
    package internal(set) var contentType: String?
    package internal(set) var retryAfter: String?
    /// The header `Link` (RFC 8288), its lines joined.
    package internal(set) var link: String?
    package internal(set) var body: [UInt8]

    package init(
        status: Int,
        contentType: String? = nil,
        retryAfter: String? = nil,
        link: String? = nil,
        body: [UInt8] = []
    ) {
        (self.status, self.contentType, self.retryAfter) = (status, contentType, retryAfter)
        (self.link, self.body) = (link, body)
    }

    /// The first byte of the body that is no blank.
    var start: UInt8? { body.first { ![0x20, 0x09, 0x0d, 0x0a].contains($0) } }
    /// Markup, whatever its content type says.
    var isPage: Bool { start == UInt8(ascii: "<") }

    package var description: String { "status \(status), \(body.count) bytes" }
    package var customMirror: Mirror { Mirror(self, children: ["status": status]) }
}

/// How one HTTP exchange ended.
package enum RemoteOutcome: Sendable {
    case reply(RemoteReply)
    /// No byte of the body was handed to a connection: name, connect, TLS, or no free connection in
    /// time.
    case unsent
    /// The call was handed over, or may have been, and no complete answer came back.
    case lost
    /// An answer came that is larger than anything a provider documents.
    case oversized
}

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

/// Collects how far this machine's clock is from those of the servers that answer.
///
/// In force for the calls of a task and its children.
package final class ServerDates: Sendable {
    @TaskLocal package static var current: ServerDates?

    private let now: @Sendable () -> WallTime
    private let differences = Mutex<[Duration]>([])

    package init(now: @escaping @Sendable () -> WallTime) { self.now = now }

    /// Takes the value of a header `Date` (RFC 9110 §6.6.1).
    func note(_ header: String) {
        guard let date = RetryAfter.date(header[...]) else { return }
        let difference = now().since(date)
        differences.withLock { $0.append(difference) }
    }

    /// This machine's time minus the servers'; the middle one, so that a single wrong server does
    /// not count.
    package var difference: Duration? {
        let sorted = differences.withLock { $0 }.sorted()
        return sorted.isEmpty ? nil : sorted[sorted.count / 2]
    }
}
