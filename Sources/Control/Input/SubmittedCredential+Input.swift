package import Lifecycle

extension SubmittedCredential: WireInput {
    package static let schemaName = "CredentialInput"
    package static let members: [WireMember<SubmittedCredential>] = [
        .field("kind", \.kind.rawValue, as: .oneOf(all: CredentialKind.self), "What it is."),
        .secret("secret", { $0.secret }, isRequired: true, "Its value, 1 to 8192 bytes."),
        .field("client_id", \.clientID, as: .line, "Required when the provider has several."),
        .field(
            "subject",
            { $0.subject?.exposeText() },
            as: .line,
            "The provider's id of the user, if known."
        ),
        .field(
            "redirect_uri",
            \.redirectURI,
            as: .redirectURI,
            "The redirect URI of the authorize request; empty if there was none."
        ),
        .secret("code_verifier", \.codeVerifier, "The PKCE verifier (RFC 7636)."),
        .secret("raw_nonce", \.rawNonce, "The nonce before it was hashed."),
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
        subject = try object.secret("subject")
        redirectURI = try object.text("redirect_uri")
        codeVerifier = try object.secret("code_verifier")
        rawNonce = try object.secret("raw_nonce")
    }
}
