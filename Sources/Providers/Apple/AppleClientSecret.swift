import Encoding
import Engine
import HTTP
import Lifecycle

/// Makes the JWT that Apple takes as `client_secret`, anew for every call.
///
/// "Creating a client secret", Apple: ES256; `iss` is the team, `sub` the client id of the form,
/// `aud` always `https://appleid.apple.com`. Header and claims are prepared per client id and only
/// the two times are filled in, since this runs for every call (decision 0003).
struct AppleClientSecret: Sendable {
    /// A clock ahead of Apple's makes the secret invalid (`invalid_client`), which pauses the
    /// provider; so it is dated back further than clocks are usually apart.
    static let backdating = Duration.seconds(600)
    /// Apple allows six months; a clock behind Apple's must not make the secret old.
    static let lifetime = Duration.seconds(600)

    private let header: [UInt8]
    private let claimsStart: [UInt8]
    private let claimsEnd: [String: [UInt8]]
    private let signer: any MessageSigner

    /// - Throws: ``SetupError`` when an id is missing or unfit, or the key is not an ES256 key.
    init(_ settings: AppleProviderSettings, signer: any MessageSigner) throws(SetupError) {
        let provider = settings.http.name.rawValue
        let ids = [settings.teamID, settings.keyID] + settings.clientIDs
        guard !settings.clientIDs.isEmpty, ids.allSatisfy(Self.isPlain) else {
            throw SetupError(kind: .malformedClient, provider: provider)
        }
        guard signer.algorithm == .es256 else {
            throw SetupError(kind: .wrongKeyAlgorithm, provider: provider)
        }
        self.signer = signer
        let members = #"{"alg":"ES256","kid":"\#(settings.keyID)"}"#
        header = Array((Base64URL.text(members.utf8) + ".").utf8)
        claimsStart = Array(
            #"{"iss":"\#(settings.teamID)","aud":"\#(AppleProviderSettings.issuer)","iat":"#.utf8
        )
        claimsEnd = Dictionary(
            settings.clientIDs.map { ($0, Array(#","sub":"\#($0)"}"#.utf8)) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    func knows(_ clientID: String) -> Bool { claimsEnd[clientID] != nil }

    /// Signs a fresh client secret; `nil` for a client id that is not configured.
    ///
    /// - Throws: ``VaultError`` when the key does not sign.
    func make(for clientID: String, now: WallTime) throws(VaultError) -> [UInt8]? {
        guard let claimsEnd = claimsEnd[clientID] else { return nil }
        let issued = (now - Self.backdating).unixMilliseconds / 1000
        let expires = (now + Self.lifetime).unixMilliseconds / 1000
        var claims = claimsStart
        claims.reserveCapacity(claimsStart.count + claimsEnd.count + 48)
        claims.append(contentsOf: "\(issued),\"exp\":\(expires)".utf8)
        claims.append(contentsOf: claimsEnd)
        var token = header
        token.reserveCapacity(header.count + claims.count * 4 / 3 + 96)
        Base64URL.append(claims, to: &token)
        let signature = try signer.sign(token)
        token.append(UInt8(ascii: "."))
        Base64URL.append(signature, to: &token)
        return token
    }

    /// Letters, digits, dot, hyphen and underscore: all that Apple's ids use, and nothing that JSON
    /// would have to escape.
    private static func isPlain(_ id: String) -> Bool {
        (1...255).contains(id.utf8.count)
            && id.utf8.allSatisfy { PercentEncoding.isUnreserved($0) && $0 != UInt8(ascii: "~") }
    }
}
