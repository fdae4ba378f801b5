/// The body of `hold`: why.
package struct ReasonInput: WireInput, Hashable {
    package var reason: String?

    package init(reason: String? = nil) { self.reason = reason }

    package static let members: [WireMember<ReasonInput>] = [
        .optional("reason", \.reason, as: .reason, "Why, 1 to 200 bytes, no personal data.")
    ]

    /// Reads a body.
    package init(body: [UInt8]) throws(ControlProblem) {
        reason = try InputObject(body: body, fields: Self.fields).text("reason")
    }
}
