import Crypto
import HTTP
import JWTKit

/// The public keys of a provider (RFC 7517 §5) that may sign id tokens: RSA for RS256, P-256 for
/// ES256.
struct SigningKeySet: Sendable {
    /// Vendors publish a handful.
    static let countMax = 32

    /// What an id token may be signed with.
    static let algorithms: Set<String> = ["RS256", "ES256"]

    private enum Verifier: Sendable {
        case rs256(any JWTAlgorithm)
        case es256(P256.Signing.PublicKey)
    }

    private let verifiers: [String: Verifier]

    /// Reads a key set.
    ///
    /// Keys of other types and uses are skipped. The set as a whole is refused when it is not a key
    /// set, has more than ``countMax`` keys, none of use, or two with the same id.
    init?(_ body: [UInt8]) async {
        guard let keys = JSONValue(body)?["keys"]?.array, keys.count <= Self.countMax else {
            return nil
        }
        var verifiers: [String: Verifier] = [:]
        for key in keys {
            guard let id = key["kid"]?.string, !id.isEmpty else { continue }
            guard let verifier = await Self.verifier(key) else { continue }
            guard verifiers.updateValue(verifier, forKey: id) == nil else { return nil }
        }
        guard !verifiers.isEmpty else { return nil }
        self.verifiers = verifiers
    }

    func contains(_ keyID: String) -> Bool { verifiers[keyID] != nil }

    /// Whether the key that the token names signed it, with the algorithm that the key is for.
    func verify(_ token: IDToken) -> Bool {
        guard let keyID = token.keyID, let verifier = verifiers[keyID] else { return false }
        switch (verifier, token.algorithm) {
        case (.rs256(let key), "RS256"):
            do {
                return try key.verify(token.signature, signs: token.signedPart)
            } catch {
                return false
            }
        case (.es256(let key), "ES256"):
            do {
                // r and s, 32 bytes each (RFC 7518 §3.4).
                let signature = try P256.Signing.ECDSASignature(rawRepresentation: token.signature)
                return key.isValidSignature(signature, for: token.signedPart)
            } catch {
                return false
            }
        default: return false
        }
    }

    private static func verifier(_ key: JSONValue) async -> Verifier? {
        guard key["use"] == nil || key["use"]?.string == "sig" else { return nil }
        let algorithm = key["alg"]
        switch key["kty"]?.string {
        case "RSA" where algorithm == nil || algorithm?.string == "RS256":
            return await rsa(key).map { .rs256($0) }
        case "EC" where algorithm == nil || algorithm?.string == "ES256":
            return p256(key).map { .es256($0) }
        default: return nil
        }
    }

    /// Builds the check for one key: 2048 to 8192 bits (RFC 7518 §3.3 asks for 2048 or more).
    ///
    /// One collection per key, because a collection falls back to another key for an unknown id.
    private static func rsa(_ key: JSONValue) async -> (any JWTAlgorithm)? {
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

    /// Two coordinates of 32 bytes (RFC 7518 §6.2.1.2) of a point that is on the curve.
    private static func p256(_ key: JSONValue) -> P256.Signing.PublicKey? {
        guard key["crv"]?.string == "P-256",
            let x = key["x"]?.string.flatMap({ Base64URL.decode(Array($0.utf8)) }), x.count == 32,
            let y = key["y"]?.string.flatMap({ Base64URL.decode(Array($0.utf8)) }), y.count == 32
        else { return nil }
        do {
            return try P256.Signing.PublicKey(x963Representation: [4] + x + y)
        } catch {
            return nil
        }
    }
}
