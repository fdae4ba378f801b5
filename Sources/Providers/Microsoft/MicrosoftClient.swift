import Cryptography
import Encoding
import Engine
import HTTP
import Lifecycle

/// Proves the application at the token endpoint, by secret or by certificate.
///
/// "Microsoft identity platform application authentication certificate credentials": PS256, header
/// `x5t#S256`, audience the token endpoint of the tenant, a life of five to ten minutes, `jti`
/// unique.
struct MicrosoftClient: Sendable {
    enum Proof: Sendable {
        case secret(Secret)
        /// A certificate: the SHA-256 of its DER form and its private key, for PS256.
        case certificate(thumbprint: [UInt8], signer: any MessageSigner)
    }

    /// In lower case.
    let clientID: String
    let proof: Proof
    var makeNonce = RandomText.nonce

    /// - Throws: ``SetupError`` of kind `wrongKeyAlgorithm` for a key that cannot make PS256,
    ///   or a fingerprint that is no SHA-256.
    func check(of provider: String) throws(SetupError) {
        guard case .certificate(let thumbprint, let signer) = proof else { return }
        guard signer.algorithm == .ps256, thumbprint.count == SHA256.byteCount else {
            throw SetupError(kind: .wrongKeyAlgorithm, provider: provider)
        }
    }

    /// Starts a form with the application's own fields.
    ///
    /// An assertion is good for `tokenURL` alone; `nil` when the key does not sign.
    func form(for tokenURL: String, now: WallTime) -> FormBody? {
        var form = FormBody()
        form.add("client_id", clientID)
        switch proof {
        case .secret(let secret):
            form.add("client_secret", secret)
        case .certificate(let thumbprint, let signer):
            do throws(VaultError) {
                let header = [("x5t#S256" as StaticString, Base64URL.text(thumbprint))]
                let token = try ClientAssertion(signer, header: header).make(
                    for: clientID,
                    audience: tokenURL,
                    now: now,
                    nonce: makeNonce(),
                    backdating: .zero
                )
                form.add("client_assertion_type", ClientAssertion.type)
                form.add("client_assertion", token)
            } catch {
                return nil
            }
        }
        return form
    }
}
