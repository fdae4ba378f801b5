import Encoding
import Engine
import HTTP
import Lifecycle
import Synchronization

/// Makes the JWT that Apple takes as `client_secret`, one for all calls of five minutes.
///
/// "Creating a client secret", Apple: ES256; `iss` is the team, `sub` the client id of the form,
/// `aud` always `https://appleid.apple.com`.
final class AppleClientSecret: Sendable {
    /// A clock ahead of Apple's makes the secret invalid (`invalid_client`), which pauses the
    /// provider; so it is dated back further than clocks are usually apart.
    static let backdating = Duration.seconds(600)
    /// Apple allows six months; a clock behind Apple's must not make the secret old.
    static let lifetime = reuse + .seconds(600)
    /// A signature for each call would be a fourteenth of the processor time of a deletion.
    static let reuse = Duration.seconds(300)

    private let header: [UInt8]
    private let teamID: String
    private let clientIDs: Set<String>
    private let signer: any MessageSigner
    private let latest = Mutex<[String: Made]>([:])

    private struct Made {
        let token: [UInt8]
        let at: WallTime
    }

    /// - Throws: ``SetupError`` when an id is missing or unfit, or the key is not an ES256 key.
    init(
        _ kind: AppleKind,
        of provider: ProviderName,
        clientIDs: [String],
        signer: any MessageSigner
    ) throws(SetupError) {
        let ids = [kind.teamID, kind.keyID] + clientIDs
        guard !clientIDs.isEmpty, ids.allSatisfy(Self.isPlain) else {
            throw SetupError(kind: .malformedClient, provider: provider.rawValue)
        }
        guard signer.algorithm == .es256 else {
            throw SetupError(kind: .wrongKeyAlgorithm, provider: provider.rawValue)
        }
        self.signer = signer
        let members = JSONWriter.object {
            $0.member("alg", "ES256")
            $0.member("kid", kind.keyID)
        }
        header = Array((Base64URL.text(members) + ".").utf8)
        teamID = kind.teamID
        self.clientIDs = Set(clientIDs)
    }

    /// The latest client secret, or a new one when that is older than ``reuse`` or of a later time,
    /// as after a step of the clock; `nil` for a client id that is not configured.
    ///
    /// - Throws: ``VaultError`` when the key does not sign.
    func make(for clientID: String, now: WallTime) throws(VaultError) -> [UInt8]? {
        guard clientIDs.contains(clientID) else { return nil }
        let made = latest.withLock { $0[clientID] }
        if let made, made.at <= now, now < made.at + Self.reuse { return made.token }
        let token = try sign(for: clientID, now: now)
        latest.withLock { $0[clientID] = Made(token: token, at: now) }
        return token
    }

    private func sign(for clientID: String, now: WallTime) throws(VaultError) -> [UInt8] {
        let claims = JSONWriter.object {
            $0.member("iss", teamID)
            $0.member("aud", AppleKind.issuer)
            $0.member("iat", (now - Self.backdating).unixMilliseconds / 1000)
            $0.member("exp", (now + Self.lifetime).unixMilliseconds / 1000)
            $0.member("sub", clientID)
        }
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
