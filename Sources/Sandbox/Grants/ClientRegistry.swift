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
