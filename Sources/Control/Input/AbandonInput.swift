package import Lifecycle

/// The body of `abandon`: why, and at which provider.
package struct AbandonInput: WireInput, Hashable {
    package var reason: String
    package var provider: ProviderName?

    package init(reason: String, provider: ProviderName? = nil) {
        (self.reason, self.provider) = (reason, provider)
    }

    package static let members: [WireMember<AbandonInput>] = [
        .required("reason", \.reason, as: .reason, "Why, 1 to 200 bytes, no personal data."),
        .optional("provider", \.provider, as: .name, "Give up on this provider alone."),
    ]

    /// Reads a body.
    package init(body: [UInt8]) throws(ControlProblem) {
        let object = try InputObject(body: body, fields: Self.fields)
        reason = try object.requiredText("reason")
        provider = try object.provider("provider")
    }
}
