import Cryptography

/// A client with its keys read.
struct RegisteredClient: Sendable {
    let registration: ClientRegistration
    /// Verifies assertions: the registered key, or that of the certificate.
    let key: CryptoKey?
    let certificate: ClientCertificate?

    var id: String { registration.clientID }

    var secret: String? { registration.clientSecret }

    var authentication: ClientAuthentication {
        let usual: ClientAuthentication =
            key != nil ? .privateKeyJWT : secret == nil ? .none : .basic
        return registration.authentication ?? usual
    }

    init(_ registration: ClientRegistration) throws(SandboxError) {
        self.registration = registration
        certificate = try registration.certificatePEM.map { pem throws(SandboxError) in
            try ClientCertificate(pem: pem)
        }
        let own = try registration.keyPEM.map { pem throws(SandboxError) in
            try CryptoKey(pem: pem)
        }
        key = certificate?.key ?? own
    }

    func has(secret given: String?) -> Bool { given != nil && given == secret }

    /// HMAC-SHA-256 under the client's secret.
    func sign(_ message: [UInt8]) -> [UInt8] {
        KeyedHash.sha256(key: Array((secret ?? "").utf8), message: message)
    }
}
