import Crypto
import CryptoExtras
import Encoding
import HTTP

/// The public keys of a provider (RFC 7517 §5) that may sign id tokens: RSA for RS256, P-256 for
/// ES256.
struct SigningKeySet: Sendable {
    /// Vendors publish a handful.
    static let countMax = 32

    static let algorithms: Set<String> = ["RS256", "ES256"]

    private enum Verifier: Sendable {
        case rs256(_RSA.Signing.PublicKey)
        case es256(P256.Signing.PublicKey)
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
        switch (verifier, token.algorithm) {
        case (.rs256(let key), "RS256"):
            return key.isValidSignature(
                _RSA.Signing.RSASignature(rawRepresentation: token.signature),
                for: token.signedPart,
                padding: .insecurePKCS1v1_5
            )
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

    private static func verifier(_ key: JSONValue) -> Verifier? {
        guard key["use"] == nil || key["use"]?.string == "sig" else { return nil }
        let algorithm = key["alg"]
        switch key["kty"]?.string {
        case "RSA" where algorithm == nil || algorithm?.string == "RS256":
            return rsa(key).map { .rs256($0) }
        case "EC" where algorithm == nil || algorithm?.string == "ES256":
            return p256(key).map { .es256($0) }
        default: return nil
        }
    }

    private static func bytes(_ value: JSONValue?) -> [UInt8]? {
        value?.string.flatMap { Base64URL.decode($0.utf8) }
    }

    /// A modulus of 2048 to 8192 bits (RFC 7518 §3.3 asks for 2048 or more) and an exponent.
    private static func rsa(_ key: JSONValue) -> _RSA.Signing.PublicKey? {
        guard let modulus = bytes(key["n"]), let exponent = bytes(key["e"]),
            (256...1024).contains(modulus.count)
        else { return nil }
        do { return try _RSA.Signing.PublicKey(n: modulus, e: exponent) } catch { return nil }
    }

    /// Two coordinates of 32 bytes (RFC 7518 §6.2.1.2) of a point that is on the curve.
    private static func p256(_ key: JSONValue) -> P256.Signing.PublicKey? {
        guard key["crv"]?.string == "P-256",
            let x = bytes(key["x"]), x.count == 32, let y = bytes(key["y"]), y.count == 32
        else { return nil }
        do {
            return try P256.Signing.PublicKey(x963Representation: [4] + x + y)
        } catch {
            return nil
        }
    }
}
