package import Lifecycle

/// What a transmitter of security event tokens is known by.
package struct SecurityEventSettings: Sendable {
    package let provider: ProviderName
    /// What `iss` of a token and of a subject may be.
    package let issuers: [String]
    /// What `aud` may name: client ids, or what the transmitter calls this receiver.
    package let audiences: [String]
    /// Whether tokens must be typed as OpenID Shared Signals Framework 1.0 says.
    package let isTyped: Bool

    package init(
        provider: ProviderName,
        issuers: [String],
        audiences: [String],
        isTyped: Bool = true
    ) {
        (self.provider, self.issuers) = (provider, issuers)
        (self.audiences, self.isTyped) = (audiences, isTyped)
    }
}
