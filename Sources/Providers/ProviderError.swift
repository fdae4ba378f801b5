/// Why a provider could not be set up.
///
/// Problems of a single call are answers, never errors.
package struct ProviderError: Error, Sendable, CustomStringConvertible {
    /// The closed set of causes.
    package enum Kind: String, Sendable, CaseIterable {
        /// `base_url` is not an absolute https URL without user, query and fragment.
        case malformedBaseURL = "malformed_base_url"
        /// Plain http was given without permission, or for a host that is not loopback.
        case plainHTTP = "plain_http"
        /// `ca_file` cannot be read or holds no certificate.
        case unreadableCAFile = "unreadable_ca_file"
        /// No client id, team id or key id, or one that cannot be sent.
        case malformedClient = "malformed_client"
        /// The signing key is for another algorithm than the provider takes.
        case wrongKeyAlgorithm = "wrong_key_algorithm"
    }

    package let kind: Kind
    /// The configured name of the provider.
    package let provider: String

    package init(kind: Kind, provider: String) {
        self.kind = kind
        self.provider = provider
    }

    package var description: String { "cannot set up provider at '\(provider)' (\(kind.rawValue))" }
}
