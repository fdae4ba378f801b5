import Cryptography
import Encoding
package import Lifecycle

/// Signs messages as Standard Webhooks has it: HMAC-SHA-256 over id, time and body
/// (github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md).
package struct WebhookSignature: Sendable {
    /// Bytes of a key that the specification allows.
    private static let keyBytes = 24...64

    private let key: Secret

    /// Reads one line of base64, with or without the prefix `whsec_`; `nil` for anything else.
    package init?(_ text: Secret) {
        var line = text.exposeText()[...]
        while let last = line.last, last.isWhitespace { line.removeLast() }
        if line.hasPrefix("whsec_") { line.removeFirst(6) }
        // A text of random digits is a good key, and its last digit may have bits to spare.
        guard let bytes = Base64.decode(line.utf8, ignoringSpareBits: true),
            Self.keyBytes.contains(bytes.count)
        else { return nil }
        key = Secret(bytes)
    }

    /// The headers of a message, in the order of the specification; its id is the same for every
    /// try.
    package func headers(
        id: String,
        time: WallTime,
        body: [UInt8]
    ) -> [(name: String, value: String)] {
        let seconds = String(time.unixMilliseconds / 1000)
        let message = Array("\(id).\(seconds).".utf8) + body
        let code = key.withBytes { KeyedHash.sha256(key: $0, message: message) }
        let signature = String(decoding: Base64.encode(code), as: UTF8.self)
        return [
            (name: "webhook-id", value: id),
            (name: "webhook-timestamp", value: seconds),
            (name: "webhook-signature", value: "v1,\(signature)"),
            (name: "Idempotency-Key", value: id),
        ]
    }
}
