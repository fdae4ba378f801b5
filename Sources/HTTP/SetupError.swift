import Lifecycle

/// Why a provider, a directory or a store could not be set up.
///
/// Problems of a single call are answers, never errors.
package struct SetupError: Error, Sendable, CustomStringConvertible {
    /// The closed set of causes.
    package enum Kind: String, Sendable, CaseIterable {
        case malformedBaseURL = "malformed_base_url"
        case plainHTTP = "plain_http"
        case unreadableCAFile = "unreadable_ca_file"
        case malformedClient = "malformed_client"
        case wrongKeyAlgorithm = "wrong_key_algorithm"
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

    package init(kind: Kind, provider: String) {
        self.init(kind: kind, owner: .provider(ProviderName(provider)))
    }

    package var description: String {
        "cannot set up \(owner.role) at '\(owner.name)' (\(kind.rawValue)): \(kind.reason)"
    }
}
