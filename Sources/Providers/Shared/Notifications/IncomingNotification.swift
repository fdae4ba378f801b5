import Encoding
package import Lifecycle

/// What a provider sent to the application's web server, as it was handed on.
///
/// Holds a subject and sometimes a shared secret, so every textual view is redacted.
package struct IncomingNotification: Sendable, Redacted {
    /// The body, byte for byte: signatures cover it.
    package let body: [UInt8]
    /// Header fields by their names in lower case.
    package let fields: [String: String]
    package let receivedAt: WallTime

    package init(body: [UInt8], fields: [String: String] = [:], receivedAt: WallTime) {
        (self.body, self.fields, self.receivedAt) = (body, fields, receivedAt)
    }

    /// The type and subtype of `content-type`, in lower case (RFC 9110 §8.3.1).
    var contentType: String? {
        fields["content-type"].map { type in
            String(type.prefix { $0 != ";" && $0 != " " }).lowercased()
        }
    }
}
