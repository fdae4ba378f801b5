package import Engine
import HTTP
package import Lifecycle

/// One registered client and how it shows who it is (RFC 6749 §2.3).
package struct OAuth2Client: Sendable {
    /// The methods, as registered for `token_endpoint_auth_methods_supported` (RFC 8414 §2).
    package enum Authentication: Sendable {
        /// A public client: its id is all it has.
        case none
        case basic(Secret)
        case post(Secret)
        /// `client_secret_jwt` or `private_key_jwt`, by the signer's algorithm.
        case assertion(any MessageSigner, keyID: String?)
    }

    package let id: String
    let authentication: Authentication

    /// Adds what authenticates the client; answers the header, for a method that has one.
    ///
    /// - Throws: ``VaultError`` when the key does not sign.
    func authenticate(
        _ form: inout FormBody,
        audience: String,
        now: WallTime
    ) throws(VaultError) -> Authorization? {
        switch authentication {
        case .basic(let secret): return .client(id, secret)
        case .none: form.add("client_id", id)
        case .post(let secret):
            form.add("client_id", id)
            form.add("client_secret", secret)
        case .assertion(let signer, let keyID):
            var header: [(StaticString, String)] = []
            if let keyID { header.append(("kid", keyID)) }
            let assertion = ClientAssertion(signer, header: header)
            let token = try assertion.make(for: id, audience: audience, now: now)
            form.add("client_id", id)
            form.add("client_assertion_type", ClientAssertion.type)
            form.add("client_assertion", token)
        }
        return nil
    }
}
