import Lifecycle

/// Why a provider, a directory or a store could not be set up.
///
/// Problems of a single call are answers, never errors.
package struct SetupError: Error, Sendable, CustomStringConvertible {
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
        /// The signing key is for another algorithm than the other side takes.
        case wrongKeyAlgorithm = "wrong_key_algorithm"
        /// The key file of a service account is not one.
        case malformedServiceAccount = "malformed_service_account"

        var reason: String {
            switch self {
            case .malformedBaseURL:
                "a URL must be an absolute https URL without user, query and fragment"
            case .plainHTTP: "plain http needs allow_plain_http and a server on this machine"
            case .unreadableCAFile: "ca_file cannot be read or holds no certificate"
            case .malformedClient: "an id or secret is missing or cannot be sent"
            case .wrongKeyAlgorithm: "the signing key is for another algorithm"
            case .malformedServiceAccount:
                "the credential is no JSON key file of a service account"
            }
        }
    }

    package let kind: Kind
    package let owner: RemoteOwner

    package init(kind: Kind, owner: RemoteOwner) { (self.kind, self.owner) = (kind, owner) }

    /// A provider's.
    package init(kind: Kind, provider: String) {
        self.init(kind: kind, owner: .provider(ProviderName(provider)))
    }

    package var description: String {
        "cannot set up \(owner.role) at '\(owner.name)' (\(kind.rawValue)): \(kind.reason)"
    }
}
