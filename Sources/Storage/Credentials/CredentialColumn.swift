/// The columns of `credentials` that an insert sets.
enum CredentialColumn: Int32, Columns {
    case identityID, kind, rowNonce, sealedSecret, sealedCodeVerifier, redirectURI, fingerprint
    case createdAt, lastLiveAt, expiresAt, codePhase

    static let selection = makeSelection()
    static let insertion = insertion(of: allCases, into: "credentials")
}
