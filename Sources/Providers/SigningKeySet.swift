import FoundationEssentials
import JWTKit

/// The public keys of a provider (RFC 7517 §5) that may sign id tokens: RSA, for RS256.
struct SigningKeySet: Sendable {
    /// Apple publishes a handful.
    static let countMax = 32

    private let verifiers: [String: any JWTAlgorithm]

    /// Reads a key set.
    ///
    /// Keys of other types and uses are skipped. The set as a whole is refused when it is not a key
    /// set, has more than ``countMax`` keys, none of use, or two with the same id.
    init?(_ body: [UInt8]) async {
        guard let keys = JSONValue(body)?["keys"]?.array, keys.count <= Self.countMax else {
            return nil
        }
        var verifiers: [String: any JWTAlgorithm] = [:]
        for key in keys where Self.isForRS256(key) {
            guard let id = key["kid"]?.string, !id.isEmpty else { continue }
            guard let verifier = await Self.verifier(key) else { continue }
            guard verifiers.updateValue(verifier, forKey: id) == nil else { return nil }
        }
        guard !verifiers.isEmpty else { return nil }
        self.verifiers = verifiers
    }

    func contains(_ keyID: String) -> Bool { verifiers[keyID] != nil }

    /// Whether the key of that id signed `message`; an unknown id is no.
    func verifies(_ signature: [UInt8], of message: [UInt8], keyID: String) -> Bool {
        guard let verifier = verifiers[keyID] else { return false }
        do {
            return try verifier.verify(signature, signs: message)
        } catch {
            return false
        }
    }

    private static func isForRS256(_ key: JSONValue) -> Bool {
        guard key["kty"]?.string == "RSA" else { return false }
        let use = key["use"]
        let algorithm = key["alg"]
        return (use == nil || use?.string == "sig")
            && (algorithm == nil || algorithm?.string == "RS256")
    }

    /// Builds the check for one key: 2048 to 8192 bits (RFC 7518 §3.3 asks for 2048 or more).
    ///
    /// One collection per key, because a collection falls back to another key for an unknown id.
    private static func verifier(_ key: JSONValue) async -> (any JWTAlgorithm)? {
        guard let modulus = key["n"]?.string, let exponent = key["e"]?.string,
            let bytes = Base64URL.decode(Array(modulus.utf8)), (256...1024).contains(bytes.count),
            Base64URL.decode(Array(exponent.utf8)) != nil
        else { return nil }
        do {
            let publicKey = try Insecure.RSA.PublicKey(modulus: modulus, exponent: exponent)
            let collection = await JWTKeyCollection().add(rsa: publicKey, digestAlgorithm: .sha256)
            return try await collection.getKey()
        } catch {
            return nil
        }
    }
}
