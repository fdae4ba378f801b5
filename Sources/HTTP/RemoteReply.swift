import Encoding

/// A complete answer of a provider; the body may hold tokens and may echo what was sent.
package struct RemoteReply: Sendable, Redacted {
    package let status: Int
    package let contentType: String?
    package let retryAfter: String?
    /// The header `Link` (RFC 8288), its lines joined.
    package let link: String?
    package let body: [UInt8]

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
