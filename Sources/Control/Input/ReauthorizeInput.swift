package import Encoding
package import Lifecycle

/// The body of `POST /v1/requests/{id}/reauthorize`: a fresh sign-in.
///
/// At least one of `idToken` and `code` is there.
package struct ReauthorizeInput: WireInput {
    package var provider: ProviderName
    package var clientID: String?
    package var idToken: Secret?
    package var rawNonce: Secret?
    package var code: Secret?
    package var redirectURI: String?
    package var codeVerifier: Secret?

    package init(provider: ProviderName) { self.provider = provider }

    package static let members: [WireMember<ReauthorizeInput>] = [
        .field("provider", \.provider, as: .name, "Where the user signed in."),
        .field("client_id", \.clientID, as: .line, "Required when the provider has several."),
        .secret("id_token", \.idToken, "Proves who signed in; needed where it is issued."),
        .secret("raw_nonce", \.rawNonce, "The nonce before it was hashed."),
        .secret("code", \.code, "The authorization code; it becomes a credential."),
        .field(
            "redirect_uri",
            \.redirectURI,
            as: .redirectURI,
            "The redirect URI of the authorize request; empty if there was none."
        ),
        .secret("code_verifier", \.codeVerifier, "The PKCE verifier (RFC 7636)."),
    ]

    package static let rules: [JSONValue.Member] = [
        .init(
            "anyOf",
            [
                ["required": ["id_token"], "properties": ["id_token": ["type": "string"]]],
                ["required": ["code"], "properties": ["code": ["type": "string"]]],
            ]
        )
    ]

    /// Reads a body.
    package init(body: [UInt8]) throws(ControlProblem) {
        let object = try InputObject(body: body, fields: Self.fields)
        self.init(provider: try object.required("provider", object.provider("provider")))
        clientID = try object.text("client_id")
        idToken = try object.secret("id_token")
        rawNonce = try object.secret("raw_nonce")
        code = try object.secret("code")
        redirectURI = try object.text("redirect_uri")
        codeVerifier = try object.secret("code_verifier")
        guard idToken != nil || code != nil else {
            throw object.problem("id_token", "or 'code' is missing", .missingField)
        }
    }
}
