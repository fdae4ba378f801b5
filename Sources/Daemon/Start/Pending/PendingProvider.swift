import Engine
import Lifecycle
import Providers
import Synchronization

/// A provider that cannot be set up yet: its credential or certificate file cannot be read.
///
/// The state machine knows it by its traits, which need no credential, and it stands still. Once
/// ``diagnose()`` could set it up it is the provider itself.
final class PendingProvider: ConnectedProvider {
    let name: ProviderName
    let traits: ProviderTraits
    private let pending: Pending<any ConnectedProvider>

    /// - Parameters:
    ///   - name: The provider's name.
    ///   - traits: What it will be like.
    ///   - make: Tries to set it up.
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

    /// Whether it could be set up by now.
    var isSetUp: Bool { provider != nil }

    /// Sets the provider up, unless that was done before.
    ///
    /// - Returns: Why it cannot be set up; `nil` once it is.
    func setUp() async -> String? { await pending.setUp() }

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
    private struct State: Sendable {
        var receiver: (any NotificationReceiver)?
        var isShutDown = false
    }

    private let name: ProviderName
    private let make: @Sendable () throws -> (any NotificationReceiver)?
    private let state = Mutex(State())

    /// - Parameters:
    ///   - name: The provider's name.
    ///   - make: Tries to set it up.
    init(_ name: ProviderName, make: @escaping @Sendable () throws -> (any NotificationReceiver)?) {
        self.name = name
        self.make = make
    }

    func verify(
        _ notification: IncomingNotification
    ) async throws(NotificationRefusal) -> VerifiedNotification {
        guard let receiver = receiver() else {
            // The sender comes again.
            throw NotificationRefusal(
                .keysUnavailable,
                provider: name,
                answer: NotificationAnswer(status: 503)
            )
        }
        return try await receiver.verify(notification)
    }

    private func receiver() -> (any NotificationReceiver)? {
        state.withLock { state in
            if state.isShutDown { return nil }
            if let receiver = state.receiver { return receiver }
            do {
                state.receiver = try make()
            } catch {
                // It was said when the provider was set up, and is tried with the next one.
            }
            return state.receiver
        }
    }

    func shutdown() async {
        let last = state.withLock { state in
            defer { (state.receiver, state.isShutDown) = (nil, true) }
            return state.receiver
        }
        await last?.shutdown()
    }
}
