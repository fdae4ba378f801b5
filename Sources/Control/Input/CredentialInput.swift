import Encoding
package import Lifecycle

/// The body of `PUT /v1/users/{user_id}/identities/{provider}`: one credential to seal.
package struct CredentialInput: WireInput {
    package var kind: CredentialKind
    package var secret: Secret
    package var clientID: String?
    package var subject: String?
    package var redirectURI: String?
    package var codeVerifier: Secret?
    package var rawNonce: Secret?

    package init(kind: CredentialKind, secret: Secret) { (self.kind, self.secret) = (kind, secret) }

    package static let fields: [WireField] = [
        .required("kind", .oneOf(all: CredentialKind.self), "What it is."),
        .required("secret", .secret, "The credential, 1 to 8192 bytes."),
        .optional("client_id", .line, "Required when the provider has several."),
        .optional("subject", .line, "The provider's id of the user, if known."),
        .optional(
            "redirect_uri",
            .redirectURI,
            "The redirect URI of the authorize request; empty if there was none."
        ),
        .optional("code_verifier", .secret, "The PKCE verifier (RFC 7636)."),
        .optional("raw_nonce", .secret, "The nonce before it was hashed."),
    ]

    /// Reads a body.
    package init(body: [UInt8]) throws(ControlProblem) {
        let object = try InputObject(body: body, fields: Self.fields)
        guard let kind = CredentialKind(rawValue: try object.requiredText("kind")) else {
            throw object.problem("kind", "is not a kind of credential", .unknownCredentialKind)
        }
        guard let secret = try object.secret("secret") else {
            throw object.problem("secret", "is missing", .missingSecret)
        }
        self.init(kind: kind, secret: secret)
        clientID = try object.text("client_id")
        subject = try object.text("subject")
        redirectURI = try object.text("redirect_uri")
        codeVerifier = try object.secret("code_verifier")
        rawNonce = try object.secret("raw_nonce")
    }

    /// Holds the secrets in the clear.
    package var body: [UInt8] {
        JSONWriter.object { writer in
            writer.member("kind", kind.rawValue)
            writer.member("secret", secret.exposeText())
            writer.member("client_id", clientID)
            writer.member("subject", subject)
            writer.member("redirect_uri", redirectURI)
            writer.member("code_verifier", codeVerifier?.exposeText())
            writer.member("raw_nonce", rawNonce?.exposeText())
        }
    }
}
