package import Lifecycle

/// A sign-in that the user has just made, as proof that it is the user who asks.
package struct SignInInput: Sendable, Hashable {
    package var provider: ProviderName
    package var clientID: String?
    package var idToken: Secret
    package var rawNonce: Secret

    package init(
        provider: ProviderName,
        clientID: String? = nil,
        idToken: Secret,
        rawNonce: Secret
    ) {
        (self.provider, self.clientID) = (provider, clientID)
        (self.idToken, self.rawNonce) = (idToken, rawNonce)
    }

    /// Compares the secrets in constant time.
    package static func == (left: SignInInput, right: SignInInput) -> Bool {
        left.provider == right.provider && left.clientID == right.clientID
            && left.idToken.isEqual(to: right.idToken) && left.rawNonce.isEqual(to: right.rawNonce)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(provider)
        hasher.combine(clientID)
    }
}
