/// An event of a security event token (RFC 8417), as RISC, CAEP and the OAuth profile name it.
package enum SecurityEventType: String, CaseIterable, Sendable {
    /// Every token of the user is revoked: the link is cut.
    case tokensRevoked = "tokens-revoked"
    case tokenRevoked = "token-revoked"
    /// The account is gone for good.
    case accountPurged = "account-purged"
    case accountDisabled = "account-disabled"
    case accountEnabled = "account-enabled"
    case accountCredentialChangeRequired = "account-credential-change-required"
    /// RISC's way to say that sessions end.
    case sessionsRevoked = "sessions-revoked"
    /// CAEP's way to say that sessions end.
    case sessionRevoked = "session-revoked"
    /// A test of the stream.
    case verification

    /// Whether the user's grant ends with it.
    var cutsGrant: Bool { self == .tokensRevoked || self == .accountPurged }

    /// The name in `events`.
    var uri: String {
        let profile =
            switch self {
            case .tokensRevoked, .tokenRevoked: "oauth"
            case .sessionRevoked: "caep"
            case .accountPurged, .accountDisabled, .accountEnabled,
                .accountCredentialChangeRequired, .sessionsRevoked, .verification:
                "risc"
            }
        return "https://schemas.openid.net/secevent/\(profile)/event-type/\(rawValue)"
    }
}
