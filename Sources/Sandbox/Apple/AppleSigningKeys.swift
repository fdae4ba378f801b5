import FoundationEssentials
import Synchronization

/// The RSA keys that sign id tokens and notifications; the newest one signs.
final class AppleSigningKeys: Sendable {
    private struct Entry: Sendable {
        let kid: String
        let key: CryptoKey
        let jwk: JSONWebKey
    }

    private struct JSONWebKey: Codable, Sendable {
        var kty = "RSA"
        var kid: String
        var use = "sig"
        var alg = "RS256"
        var n: String
        var e: String
    }

    private struct JSONWebKeySet: Codable, Sendable {
        var keys: [JSONWebKey]
    }

    /// Apple has had two to four keys at a time; two make callers choose by `kid`.
    private static let countAtStart = 2
    /// An old key stays published while tokens that it signed may be around.
    private static let countMaximum = 4

    private let entries: Mutex<[Entry]>

    /// The keys that every sandbox of a process starts with: making an RSA key takes a tenth of a
    /// second, and a test suite starts dozens of sandboxes.
    private static let atStart: Result<[Entry], SandboxError> = Result { () throws(SandboxError) in
        var made: [Entry] = []
        for _ in 0..<countAtStart {
            made.append(try makeEntry())
        }
        return made
    }

    init() throws(SandboxError) {
        entries = Mutex(try Self.atStart.get())
    }

    /// Adds a key that signs from now on, and drops the oldest beyond four.
    ///
    /// - Returns: The key ids that are published now.
    func rotate() throws(SandboxError) -> [String] {
        let entry = try Self.makeEntry()
        return entries.withLock { entries in
            entries.append(entry)
            if entries.count > Self.countMaximum {
                entries.removeFirst()
            }
            return entries.map(\.kid)
        }
    }

    /// Withdraws every key but the newest, as after a compromise.
    func withdrawOldKeys() -> [String] {
        entries.withLock { entries in
            entries = Array(entries.suffix(1))
            return entries.map(\.kid)
        }
    }

    /// The body of `GET /auth/keys` (RFC 7517 §5).
    func published() throws -> [UInt8] {
        let set = JSONWebKeySet(keys: entries.withLock { $0.map(\.jwk) })
        return Array(try JSONEncoder().encode(set))
    }

    func sign(_ claims: some Encodable) throws -> String {
        guard let newest = entries.withLock({ $0.last }) else {
            throw SandboxError(.cryptography, cannot: "sign token", at: "no key")
        }
        return try JSONWebToken.signed(
            claims,
            algorithm: "RS256",
            kid: newest.kid,
            key: newest.key
        )
    }

    private static func makeEntry() throws(SandboxError) -> Entry {
        let key = try CryptoKey.makeRSA()
        let kid = String(TokenMint.token("k").prefix(10))
        let jwk = JSONWebKey(
            kid: kid,
            n: Base64URL.text(try key.number("n")),
            e: Base64URL.text(try key.number("e"))
        )
        return Entry(kid: kid, key: key, jwk: jwk)
    }
}
