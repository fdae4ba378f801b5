import Encoding
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

extension SignInInput: WireInputPart {
    package static let members: [WireMember<SignInInput>] = [
        .field("provider", \.provider, as: .name, "Where the user signed in."),
        .field("client_id", \.clientID, as: .line, "Required when the provider has several."),
        .secret("id_token", { $0.idToken }, isRequired: true, "Proves who signed in, and when."),
        .secret("raw_nonce", { $0.rawNonce }, isRequired: true, "The nonce before it was hashed."),
    ]

    init(members: [JSONValue.Member]) throws(ControlProblem) {
        let object = try InputObject(members, in: "sign_in.", fields: Self.fields)
        provider = try object.required("provider", object.provider("provider"))
        idToken = try object.required("id_token", object.secret("id_token"))
        rawNonce = try object.required("raw_nonce", object.secret("raw_nonce"))
        clientID = try object.text("client_id")
    }
}
