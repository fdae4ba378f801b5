import Cryptography
import Synchronization

final class ClientRegistry: Sendable {
    /// More than any test registers.
    private static let capacity = 10_000

    /// In their order; few enough to search.
    private let clients = Mutex<[RegisteredClient]>([])

    init(_ registrations: [ClientRegistration]) throws(SandboxError) {
        for registration in registrations {
            try register(registration)
        }
    }

    func register(_ registration: ClientRegistration) throws(SandboxError) {
        let client = try RegisteredClient(registration)
        let isRegistered = clients.withLock { clients in
            if let index = clients.firstIndex(where: { $0.id == client.id }) {
                clients[index] = client
                return true
            }
            guard clients.count < Self.capacity else { return false }
            clients.append(client)
            return true
        }
        guard isRegistered else {
            throw SandboxError(.full, cannot: "register client", at: client.id)
        }
    }

    subscript(_ clientID: String?) -> RegisteredClient? {
        clients.withLock { clients in clients.first { $0.id == clientID } }
    }

    /// The client of a command; the first that was registered when it names none.
    func client(_ clientID: String?) throws(SandboxError) -> RegisteredClient {
        let found = clientID == nil ? clients.withLock { $0.first } : self[clientID]
        guard let found else {
            throw SandboxError(.badRequest, cannot: "find client", at: clientID ?? "default")
        }
        return found
    }

    func listing(provider: String, baseURL: String) -> [SandboxClient] {
        clients.withLock { $0 }.map { client in
            SandboxClient(
                provider: provider,
                baseURL: baseURL,
                clientID: client.id,
                clientSecret: client.secret
            )
        }
    }
}

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

    func sign(_ message: [UInt8]) -> [UInt8] {
        KeyedHash.sha256(key: Array((secret ?? "").utf8), message: message)
    }
}
