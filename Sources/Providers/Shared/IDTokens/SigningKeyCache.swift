import Cryptography
import Encoding
package import HTTP
import Lifecycle
import NIOHTTP1

/// Keeps a provider's key set for an hour; a key id that the set lacks fetches it again, at most
/// once a minute.
struct SigningKeyCache: Sendable {
    static let lifetime = Duration.seconds(3600)

    private let keys: FetchedValue<SigningKeySet>

    /// `fetch` is bounded in time by itself.
    init(
        now: @escaping @Sendable () -> WallTime,
        fetch: @escaping @Sendable () async -> SigningKeySet?
    ) {
        keys = FetchedValue(lifetime: Self.lifetime, now: now, fetch: fetch)
    }

    /// The set, fetched where it lacks `keyID` and that may help; `nil` when it cannot be read.
    func set(for keyID: String) async -> SigningKeySet? {
        await keys.get(where: { $0.contains(keyID) })
    }

    /// Checks a signature.
    ///
    /// The key decides the algorithm: what the token says about it must only agree.
    nonisolated func judge(_ token: IDToken) async -> TokenSignature {
        guard SigningKeySet.algorithms.contains(token.algorithm) else { return .bad }
        guard let keyID = token.keyID else { return .unknownKey }
        guard let keys = await set(for: keyID) else { return .unavailable }
        guard keys.contains(keyID) else { return .unknownKey }
        return keys.verify(token) ? .valid : .bad
    }
}

/// What the published keys say about a token's signature.
enum TokenSignature: Sendable {
    case valid
    case bad
    case unknownKey
    case unavailable
}

/// The key set behind one URL, fetched when a signature has to be checked.
package struct PublishedKeys: Sendable {
    let cache: SigningKeyCache
    private let http: RemoteClient?

    /// - Throws: ``SetupError`` when the URL or the CA file cannot be used.
    package init(
        at url: String,
        _ settings: RemoteSettings,
        in environment: AdapterEnvironment
    ) throws(SetupError) {
        let base = try RemoteBaseURL(url, settings)
        let endpoint = try RemoteEndpoint(base, path: "", method: .GET)
        // Last of what can fail: a client must be shut down once it exists.
        let http = try RemoteClient(settings, in: environment)
        self.http = http
        cache = SigningKeyCache(now: environment.now) { await http.keySet(at: endpoint) }
    }

    init(_ cache: SigningKeyCache) {
        self.cache = cache
        http = nil
    }

    /// Why the signature of a token is not good; `nil` when it is.
    func problem(with token: IDToken) async -> NotificationRefusal.Kind? {
        switch await cache.judge(token) {
        case .valid: nil
        case .bad: .badSignature
        case .unknownKey: .unknownKey
        case .unavailable: .keysUnavailable
        }
    }

    func shutdown() async { await http?.shutdown() }
}

/// The public keys of a provider (RFC 7517 §5) that may sign id tokens: RSA for RS256, P-256 for
/// ES256.
struct SigningKeySet: Sendable {
    /// Vendors publish a handful.
    static let countMax = 32

    static let algorithms: Set<String> = ["RS256", "ES256"]

    private struct Verifier: Sendable {
        let algorithm: String
        let key: VerifyingKey
    }

    private let verifiers: [String: Verifier]

    /// Reads a key set.
    ///
    /// Keys of other types and uses are skipped. The set as a whole is refused when it is not a key
    /// set, has more than ``countMax`` keys, none of use, or two with the same id.
    init?(_ body: [UInt8]) {
        guard let keys = JSONValue(body)?["keys"]?.array, keys.count <= Self.countMax else {
            return nil
        }
        var verifiers: [String: Verifier] = [:]
        for key in keys {
            guard let id = key["kid"]?.string, !id.isEmpty else { continue }
            guard let verifier = Self.verifier(key) else { continue }
            guard verifiers.updateValue(verifier, forKey: id) == nil else { return nil }
        }
        guard !verifiers.isEmpty else { return nil }
        self.verifiers = verifiers
    }

    func contains(_ keyID: String) -> Bool { verifiers[keyID] != nil }

    /// Whether the key that the token names signed it, with the algorithm that the key is for.
    func verify(_ token: IDToken) -> Bool {
        guard let keyID = token.keyID, let verifier = verifiers[keyID] else { return false }
        return verifier.algorithm == token.algorithm
            && verifier.key.isValid(token.signature, of: token.signedPart)
    }

    private static func verifier(_ key: JSONValue) -> Verifier? {
        guard key["use"] == nil || key["use"]?.string == "sig" else { return nil }
        let algorithm = key["alg"]
        switch key["kty"]?.string {
        case "RSA" where algorithm == nil || algorithm?.string == "RS256":
            return rsa(key).map { Verifier(algorithm: "RS256", key: $0) }
        case "EC" where algorithm == nil || algorithm?.string == "ES256":
            return p256(key).map { Verifier(algorithm: "ES256", key: $0) }
        default: return nil
        }
    }

    private static func bytes(_ value: JSONValue?) -> [UInt8]? {
        value?.string.flatMap { Base64URL.decode($0.utf8) }
    }

    private static func rsa(_ key: JSONValue) -> VerifyingKey? {
        guard let modulus = bytes(key["n"]), let exponent = bytes(key["e"]) else { return nil }
        return VerifyingKey(modulus: modulus, exponent: exponent)
    }

    private static func p256(_ key: JSONValue) -> VerifyingKey? {
        guard key["crv"]?.string == "P-256", let x = bytes(key["x"]), let y = bytes(key["y"]) else {
            return nil
        }
        return VerifyingKey(p256: x, y)
    }
}
