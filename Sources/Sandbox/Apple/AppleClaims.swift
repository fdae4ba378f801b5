/// The claims of Apple's id token (developer.apple.com, "Authenticating users").
struct AppleIDClaims: Encodable, Sendable {
    /// Apple has sent these as booleans and as strings; callers must read both.
    enum LooseBool: Encodable, Sendable {
        case bool(Bool)
        case text(Bool)

        func encode(to encoder: any Encoder) throws {
            var value = encoder.singleValueContainer()
            switch self {
            case .bool(let flag): try value.encode(flag)
            case .text(let flag): try value.encode(flag ? "true" : "false")
            }
        }
    }

    let iss = AppleClients.audience
    let sub: String
    let aud: String
    let iat: Int64
    let exp: Int64
    let authTime: Int64
    let nonce: String?
    let nonceSupported = true
    let email: String
    let emailVerified: LooseBool
    let isPrivateEmail: LooseBool
    let codeHash: String?
    let accessTokenHash: String?
    let realUserStatus = 2

    /// Makes the claims; the subject decides also the relay address and the form of the booleans.
    ///
    /// `bound` is the code or access token that comes along with the id token.
    init(
        subject: String,
        audience: String,
        issuedSeconds: Int64,
        lifetimeSeconds: Int64,
        nonce: String?,
        bound: (code: String?, accessToken: String?)
    ) {
        sub = subject
        aud = audience
        iat = issuedSeconds
        exp = issuedSeconds + lifetimeSeconds
        authTime = issuedSeconds
        self.nonce = nonce
        email = "\(subject.dropFirst(7).prefix(10))@privaterelay.appleid.com"
        let isText = (subject.utf8.last ?? 0) % 2 == 0
        emailVerified = isText ? .text(true) : .bool(true)
        isPrivateEmail = isText ? .text(true) : .bool(true)
        codeHash = bound.code.map(TokenDigest.half)
        accessTokenHash = bound.accessToken.map(TokenDigest.half)
    }

    private enum CodingKeys: String, CodingKey {
        case iss
        case sub
        case aud
        case iat
        case exp
        case authTime = "auth_time"
        case nonce
        case nonceSupported = "nonce_supported"
        case email
        case emailVerified = "email_verified"
        case isPrivateEmail = "is_private_email"
        case codeHash = "c_hash"
        case accessTokenHash = "at_hash"
        case realUserStatus = "real_user_status"
    }
}

/// The claims of a server-to-server notification ("Processing changes for Sign in with Apple
/// accounts").
struct AppleEventClaims: Encodable, Sendable {
    /// One event.
    struct Event: Encodable, Sendable {
        let type: String
        let sub: String
        let eventTime: Int64

        private enum CodingKeys: String, CodingKey {
            case type
            case sub
            case eventTime = "event_time"
        }
    }

    let iss = AppleClients.audience
    let aud: String
    let iat: Int64
    let exp: Int64
    let jti: String
    /// A string that holds JSON, although it is documented as an object: a trap of the original.
    let events: String

    private enum CodingKeys: String, CodingKey {
        case iss
        case aud
        case iat
        case exp
        case jti
        case events
    }
}
