import HTTP
import Lifecycle

/// How a provider takes a token to be revoked: RFC 7009 §2.1, or where a vendor departs from it.
struct RevocationCall: Sendable {
    enum Place: Sendable {
        case form
        case query
        case json
        /// No fields; the token is in `Authorization`.
        case nowhere
    }

    /// What the call says about the client.
    enum Client: Sendable {
        case authenticated
        case idOnly
        case absent
    }

    /// What `Authorization: Bearer` holds.
    enum Bearer: Sendable {
        case nothing
        /// The token that is to be revoked.
        case token
        /// A token of the client itself, from the client credentials grant (RFC 6749 §4.4).
        case clientToken
    }

    var place = Place.form
    var tokenName: StaticString = "token"
    var hasHint = true
    var fixed: [(StaticString, String)] = []
    var client = Client.authenticated
    var bearer = Bearer.nothing
    var kinds: Set<CredentialKind> = [.refreshToken, .accessToken]
    /// Whether a refresh token is turned into an access token first, which then ends the grant.
    var refreshesFirst = false
    var replies = OAuth2Replies.revocation
}
