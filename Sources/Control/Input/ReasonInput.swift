/// The body of `hold`: why.
package struct ReasonInput: WireInput, Hashable {
    /// 1 to 200 bytes; no personal data, since the ledger keeps it.
    package var reason: String?

    package init(reason: String? = nil) { self.reason = reason }

    package static let members: [WireMember<ReasonInput>] = [
        .optional("reason", \.reason, as: .reason, "Why, 1 to 200 bytes, no personal data.")
    ]

    /// Reads a body.
    package init(body: [UInt8]) throws(ControlProblem) {
        let object = try InputObject(body: body, fields: Self.fields)
        reason = try object.text("reason")
    }
}
