/// A provider's notification as the application's web server got it: the body byte for byte, and
/// the header fields that prove it.
package struct NotificationInput: Sendable, Hashable {
    /// The header fields that are handed on, in lower case, sorted; every other one is ignored.
    package static let fieldNames = [
        "authorization", "content-type", "expunged-callback", "x-github-delivery",
        "x-github-event", "x-hub-signature-256",
    ]

    package let body: [UInt8]
    /// By their names in lower case.
    package let fields: [String: String]

    package init(body: [UInt8], fields: [String: String] = [:]) {
        self.body = body
        self.fields = fields.filter { Self.fieldNames.contains($0.key) }
    }
}
