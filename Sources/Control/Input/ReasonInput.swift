import Encoding
package import Lifecycle

/// The body of `hold` and `abandon`: why.
package struct ReasonInput: WireInput, Hashable {
    /// 1 to 200 bytes; no personal data, since the ledger keeps it.
    package var reason: String?
    /// `abandon` only: give up on this provider alone.
    package var provider: ProviderName?

    package init(reason: String? = nil, provider: ProviderName? = nil) {
        self.reason = reason
        self.provider = provider
    }

    package static let fields: [WireField] = [
        .optional("reason", .text, "Why, 1 to 200 bytes, no personal data; `abandon` needs one."),
        .optional("provider", .text, "`abandon` only: give up on this provider alone."),
    ]

    /// Reads a body.
    ///
    /// - Parameter body: The bytes of the body; may be empty.
    /// - Throws: ``ControlProblem`` that names the first field at fault.
    package init(body: [UInt8]) throws(ControlProblem) {
        let object = try InputObject(body: body, fields: Self.fields)
        reason = try object.text("reason", byteCountMax: ControlLimits.reasonByteCountMax)
        provider = try object.providerName("provider")
    }

    /// The body that ``init(body:)`` reads.
    package var body: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("reason", reason)
            writer.member("provider", provider?.rawValue)
        }
        return writer.bytes
    }
}
