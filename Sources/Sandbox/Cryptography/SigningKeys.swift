import Encoding
import Synchronization

/// The RSA keys that sign id tokens and notifications; the newest one signs.
final class SigningKeys: Sendable {
    struct Entry: Sendable {
        let kid: String
        let key: CryptoKey
        let jwk: JSONValue

        init() throws(SandboxError) {
            key = try CryptoKey.makeRSA()
            kid = "k" + TokenGenerator.text().prefix(9)
            jwk = [
                "kty": "RSA", "kid": .string(kid), "use": "sig", "alg": "RS256",
                "n": .string(Base64URL.text(try key.number("n"))),
                "e": .string(Base64URL.text(try key.number("e"))),
            ]
        }
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

    init(family: String) { self.family = family }

    /// Answers the key ids that are published now.
    func rotate() throws(SandboxError) -> [String] {
        let next = try current() + [try Entry()]
        return entries.withLock { entries in
            entries = next.suffix(Self.countMaximum)
            return entries.map(\.kid)
        }
    }

    func withdrawOldKeys() -> [String] {
        entries.withLock { entries in
            entries = entries.suffix(1)
            return entries.map(\.kid)
        }
    }

    /// The key set (RFC 7517 §5).
    func published() throws(SandboxError) -> JSONValue {
        ["keys": .array(try current().map(\.jwk))]
    }

    func newest() throws(SandboxError) -> Entry {
        guard let newest = try current().last else {
            throw SandboxError(.cryptography, cannot: "sign token", at: "no key")
        }
        return newest
    }

    func sign(_ claims: JSONValue, type: String? = nil) throws -> String {
        let newest = try newest()
        return try JSONWebToken.signed(
            Array(claims.compactText.utf8),
            header: JSONWebToken.Header(alg: "RS256", kid: newest.kid, typ: type),
            key: newest.key
        )
    }

    /// A security event token, as it is pushed (RFC 8935 §2.1).
    func securityEvent(_ claims: JSONValue) throws -> SandboxNotification {
        let token = try sign(claims, type: "secevent+jwt")
        return SandboxNotification(contentType: "application/secevent+jwt", body: token)
    }

    /// Whether one of the published keys signed the token.
    func signed(_ token: JSONWebToken) -> Bool {
        entries.withLock { $0 }.contains { entry in
            entry.kid == token.header.kid && token.isSigned(by: entry.key)
        }
    }

    private func current() throws(SandboxError) -> [Entry] {
        let atStart = try Self.entriesAtStart(family)
        return entries.withLock { entries in
            if entries.isEmpty { entries = atStart }
            return entries
        }
    }

    private static func entriesAtStart(_ family: String) throws(SandboxError) -> [Entry] {
        if let kept = atStart.withLock({ $0[family] }) { return kept }
        var made: [Entry] = []
        for _ in 0..<countAtStart { made.append(try Entry()) }
        return atStart.withLock { atStart in
            let first = atStart[family] ?? made
            atStart[family] = first
            return first
        }
    }
}
