import Cryptography
import Synchronization

final class ClientRegistry: Sendable {
    private struct State {
        var clients: [String: RegisteredClient] = [:]
        var order: [String] = []
    }

    /// More than any test registers.
    private static let capacity = 10_000

    private let state = Mutex(State())

    init(_ registrations: [ClientRegistration]) throws(SandboxError) {
        for registration in registrations {
            try register(registration)
        }
    }

    func register(_ registration: ClientRegistration) throws(SandboxError) {
        let client = try RegisteredClient(registration)
        let isRegistered = state.withLock { state in
            if state.clients[client.id] == nil {
                guard state.order.count < Self.capacity else { return false }
                state.order.append(client.id)
            }
            state.clients[client.id] = client
            return true
        }
        guard isRegistered else {
            throw SandboxError(.full, cannot: "register client", at: client.id)
        }
    }

    subscript(_ clientID: String?) -> RegisteredClient? {
        clientID.flatMap { id in state.withLock { $0.clients[id] } }
    }

    /// The client of a command; the first that was registered when it names none.
    func client(_ clientID: String?) throws(SandboxError) -> RegisteredClient {
        let wanted = clientID ?? state.withLock { $0.order.first }
        guard let client = self[wanted] else {
            throw SandboxError(.badRequest, cannot: "find client", at: wanted ?? "default")
        }
        return client
    }

    func listing(provider: String, baseURL: String) -> [SandboxClient] {
        state.withLock { state in
            state.order.map { id in
                SandboxClient(
                    provider: provider,
                    baseURL: baseURL,
                    clientID: id,
                    clientSecret: state.clients[id]?.secret
                )
            }
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
