import Encoding
import Engine
import HTTP
import Lifecycle

/// Proves the application at the token endpoint, by secret or by certificate.
///
/// "Microsoft identity platform application authentication certificate credentials": PS256, header
/// `x5t#S256`, audience the token endpoint of the tenant, short-lived, `jti` unique.
struct MicrosoftClient: Sendable {
    /// Microsoft advises five to ten minutes; one call needs no more than the least.
    static let lifetime = Duration.seconds(300)

    let clientID: String
    let proof: MicrosoftSettings.ClientProof
    let makeNonce: @Sendable () -> String

    /// - Throws: ``SetupError`` of kind `wrongKeyAlgorithm` for a key that cannot make PS256,
    ///   or a fingerprint that is no SHA-256.
    static func check(
        _ proof: MicrosoftSettings.ClientProof,
        of provider: String
    ) throws(SetupError) {
        guard case .certificate(let thumbprint, let signer) = proof else { return }
        guard signer.algorithm == .ps256, thumbprint.count == SHA256Digest.hash([]).count else {
            throw SetupError(kind: .wrongKeyAlgorithm, provider: provider)
        }
    }

    /// Starts a form with the application's own fields.
    ///
    /// - Parameters:
    ///   - tokenURL: Where the form goes; the assertion is good for no other place.
    ///   - now: Becomes `nbf` and `iat`.
    /// - Returns: `nil` when the key does not sign.
    func form(for tokenURL: String, now: WallTime) -> FormBody? {
        var form = FormBody()
        form.add("client_id", clientID)
        switch proof {
        case .secret(let secret):
            form.add("client_secret", secret)
        case .certificate(let thumbprint, let signer):
            let claims = assertion(for: tokenURL, now: now)
            do {
                let token = try Self.sign(claims, thumbprint: thumbprint, by: signer)
                form.add(
                    "client_assertion_type",
                    "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
                )
                form.add("client_assertion", token)
            } catch {
                return nil
            }
        }
        return form
    }

    private func assertion(for tokenURL: String, now: WallTime) -> JSONBody {
        let seconds = Int(now.unixMilliseconds / 1000)
        var claims = JSONBody()
        claims.add("aud", tokenURL)
        claims.add("iss", clientID)
        claims.add("sub", clientID)
        claims.add("jti", makeNonce())
        claims.add("nbf", seconds)
        claims.add("iat", seconds)
        claims.add("exp", seconds + Int(Self.lifetime.components.seconds))
        return claims
    }

    private static func sign(
        _ claims: JSONBody,
        thumbprint: [UInt8],
        by signer: any MessageSigner
    ) throws(VaultError) -> [UInt8] {
        var digest: [UInt8] = []
        Base64URL.append(thumbprint, to: &digest)
        return try CompactToken.sign(
            claims,
            header: [("x5t#S256", String(decoding: digest, as: UTF8.self))],
            by: signer
        )
    }
}
