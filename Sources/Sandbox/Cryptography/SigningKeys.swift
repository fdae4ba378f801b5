import FoundationEssentials
import Synchronization

/// The RSA keys that sign id tokens and notifications; the newest one signs.
final class SigningKeys: Sendable {
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

    /// Apple has had two to four keys at a time, Google two; two make callers choose by `kid`.
    private static let countAtStart = 2
    /// An old key stays published while tokens that it signed may be around.
    private static let countMaximum = 4

    /// Empty until a key is needed: making one takes a tenth of a second.
    private let entries = Mutex<[Entry]>([])
    private let family: String

    /// The keys that every sandbox of a process starts with, by family: a test suite starts dozens
    /// of sandboxes.
    private static let atStart = Mutex<[String: [Entry]]>([:])

    init(family: String) {
        self.family = family
    }

    /// Adds a key that signs from now on, and drops the oldest beyond four.
    ///
    /// - Returns: The key ids that are published now.
    func rotate() throws(SandboxError) -> [String] {
        let entry = try Self.makeEntry()
        let atStart = try Self.entriesAtStart(family)
        return entries.withLock { entries in
            if entries.isEmpty {
                entries = atStart
            }
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
        let set = JSONWebKeySet(keys: try current().map(\.jwk))
        return Array(try JSONEncoder().encode(set))
    }

    func sign(_ claims: some Encodable) throws -> String {
        try sign(Array(try JSONEncoder().encode(claims)))
    }

    /// Signs claims as RS256.
    func sign(_ claims: JSON, type: String? = nil) throws -> String {
        try sign(claims.bytes, type: type)
    }

    /// Tells whether one of the published keys signed the token.
    func signed(_ token: JSONWebToken) -> Bool {
        entries.withLock { $0 }.contains { entry in
            entry.kid == token.header.kid && token.isSigned(by: entry.key)
        }
    }

    private func sign(_ payload: [UInt8], type: String? = nil) throws -> String {
        guard let newest = try current().last else {
            throw SandboxError(.cryptography, cannot: "sign token", at: "no key")
        }
        return try JSONWebToken.signed(
            payload,
            header: JSONWebToken.Header(alg: "RS256", kid: newest.kid, typ: type),
            key: newest.key
        )
    }

    private func current() throws(SandboxError) -> [Entry] {
        let atStart = try Self.entriesAtStart(family)
        return entries.withLock { entries in
            if entries.isEmpty {
                entries = atStart
            }
            return entries
        }
    }

    private static func entriesAtStart(_ family: String) throws(SandboxError) -> [Entry] {
        if let kept = atStart.withLock({ $0[family] }) {
            return kept
        }
        var made: [Entry] = []
        for _ in 0..<countAtStart {
            made.append(try makeEntry())
        }
        return atStart.withLock { atStart in
            let first = atStart[family] ?? made
            atStart[family] = first
            return first
        }
    }

    private static func makeEntry() throws(SandboxError) -> Entry {
        let key = try CryptoKey.makeRSA()
        let kid = String(TokenGenerator.token("k").prefix(10))
        let jwk = JSONWebKey(
            kid: kid,
            n: Base64URL.text(try key.number("n")),
            e: Base64URL.text(try key.number("e"))
        )
        return Entry(kid: kid, key: key, jwk: jwk)
    }
}
