/// A client with its keys read.
struct RegisteredClient: Sendable {
    let registration: ClientRegistration
    /// Verifies assertions: the registered key, or that of the certificate.
    let key: CryptoKey?
    /// SHA-256 of the certificate in DER, base64url (`x5t#S256`, RFC 7515 §4.1.8).
    let thumbprint: String?

    var id: String { registration.clientID }

    var secret: String? { registration.clientSecret }

    var authentication: ClientAuthentication {
        let usual: ClientAuthentication =
            key != nil ? .privateKeyJWT : secret == nil ? .none : .basic
        return registration.authentication ?? usual
    }

    init(_ registration: ClientRegistration) throws(SandboxError) {
        self.registration = registration
        if let pem = registration.certificatePEM {
            let certificate = try ClientCertificate(pem: pem)
            key = certificate.key
            thumbprint = certificate.thumbprint
        } else {
            key = try registration.keyPEM.map { pem throws(SandboxError) in try CryptoKey(pem: pem)
            }
            thumbprint = nil
        }
    }

    /// Tells whether `given` is the client's secret.
    func has(secret given: String?) -> Bool {
        given != nil && given == secret
    }
}
