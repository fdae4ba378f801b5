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

    package static let fields: [WireField] = [
        .required("provider", .name, "Where the user signed in."),
        .optional("client_id", .line, "Required when the provider has several."),
        .optional("id_token", .secret, "Proves who signed in; needed where it is issued."),
        .optional("raw_nonce", .secret, "The nonce before it was hashed."),
        .optional("code", .secret, "The authorization code; it becomes a credential."),
        .optional(
            "redirect_uri",
            .redirectURI,
            "The redirect URI of the authorize request; empty if there was none."
        ),
        .optional("code_verifier", .secret, "The PKCE verifier (RFC 7636)."),
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
        self.init(provider: try object.requiredProvider("provider"))
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

    /// Holds the secrets in the clear.
    package var body: [UInt8] {
        JSONWriter.object { writer in
            writer.member("provider", provider.rawValue)
            writer.member("client_id", clientID)
            writer.member("id_token", idToken?.exposeText())
            writer.member("raw_nonce", rawNonce?.exposeText())
            writer.member("code", code?.exposeText())
            writer.member("redirect_uri", redirectURI)
            writer.member("code_verifier", codeVerifier?.exposeText())
        }
    }
}
