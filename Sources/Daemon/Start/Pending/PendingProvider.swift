import Engine
import Lifecycle
import Providers

/// A provider whose credential or certificate file cannot be read yet.
///
/// Its traits need no credential. ``diagnose()`` sets it up.
final class PendingProvider: ConnectedProvider {
    let name: ProviderName
    let traits: ProviderTraits
    private let pending: Pending<any ConnectedProvider>

    init(
        _ name: ProviderName,
        traits: ProviderTraits,
        make: @escaping @Sendable () throws -> any ConnectedProvider
    ) {
        self.name = name
        self.traits = traits
        pending = Pending(discard: { await $0.shutdown() }, make: make)
    }

    private var provider: (any ConnectedProvider)? { pending.value }

    var isSetUp: Bool { provider != nil }

    /// Returns why it cannot be set up; `nil` once it is.
    func setUp() async -> String? { await pending.setUp() }

    func serves(_ clientID: String) -> Bool { provider?.serves(clientID) ?? true }

    func exchange(_ code: OpenCredential) async -> ExchangeAnswer {
        await provider?.exchange(code) ?? .failure(.misconfigured)
    }

    func check(_ credential: OpenCredential) async -> CheckAnswer {
        await provider?.check(credential) ?? .failure(.misconfigured)
    }

    func renew(_ credential: OpenCredential) async -> CheckAnswer {
        await provider?.renew(credential) ?? .failure(.misconfigured)
    }

    func revoke(_ credential: OpenCredential) async -> RevokeAnswer {
        await provider?.revoke(credential) ?? .failure(.misconfigured)
    }

    var refusedClients: [RefusedClient] { provider?.refusedClients ?? [] }

    var issuesIDTokens: Bool { provider?.issuesIDTokens ?? true }

    func verify(_ signIn: SignIn) async throws(SignInError) -> VerifiedSignIn {
        guard let provider else { throw SignInError(kind: .keysUnavailable, provider: name) }
        return try await provider.verify(signIn)
    }

    func diagnose() async -> EffectFailure? {
        if await setUp() != nil { return .misconfigured }
        return await provider?.diagnose()
    }

    func problem() async -> ProviderProblem? {
        if let problem = await setUp() { return ProviderProblem(.misconfigured, problem) }
        return await provider?.problem()
    }

    func shutdown() async { await pending.shutdown() }
}

/// What verifies a provider's notifications, once its secret can be read.
final class PendingReceiver: NotificationReceiver {
    private let name: ProviderName
    private let pending: PendingNow<any NotificationReceiver>

    init(_ name: ProviderName, make: @escaping @Sendable () throws -> (any NotificationReceiver)?) {
        self.name = name
        pending = PendingNow(make)
    }

    func verify(
        _ notification: IncomingNotification
    ) async throws(NotificationRefusal) -> VerifiedNotification {
        guard let receiver = pending.setUp() else {
            // The sender comes again.
            throw NotificationRefusal(
                .keysUnavailable,
                provider: name,
                answer: NotificationAnswer(status: 503)
            )
        }
        return try await receiver.verify(notification)
    }

    func shutdown() async { await pending.end()?.shutdown() }
}
