import Engine
import Lifecycle
import Providers
import Synchronization

/// Something made once its files can be read, and kept until the shutdown.
final class Pending<Made: Sendable>: Sendable {
    private enum State {
        case waiting(problem: String?)
        case made(Made)
        case shutDown
    }

    private static var shutDownProblem: String { "the service does not use it any more" }

    private let make: @Sendable () async throws -> Made
    private let discard: @Sendable (Made) async -> Void
    private let state = Mutex(State.waiting(problem: nil))

    init(
        discard: @escaping @Sendable (Made) async -> Void,
        make: @escaping @Sendable () async throws -> Made
    ) {
        self.discard = discard
        self.make = make
    }

    /// `nil` until it could be made, and after the shutdown.
    var value: Made? {
        state.withLock { if case .made(let made) = $0 { made } else { nil } }
    }

    /// Of the last try; `nil` once it is made.
    var problem: String? { state.withLock { if case .waiting(let why) = $0 { why } else { nil } } }

    /// Returns why it cannot be made; of two tries at once the first result is kept.
    func setUp() async -> String? {
        switch state.withLock({ $0 }) {
        case .made: return nil
        case .shutDown: return Self.shutDownProblem
        case .waiting: break
        }
        let new: Made
        do {
            new = try await make()
        } catch {
            let problem = "\(error)"
            state.withLock { if case .waiting = $0 { $0 = .waiting(problem: problem) } }
            return problem
        }
        let (isKept, isUsable) = state.withLock { state in
            switch state {
            case .waiting:
                state = .made(new)
                return (true, true)
            case .made: return (false, true)
            case .shutDown: return (false, false)
            }
        }
        if !isKept { await discard(new) }
        return isUsable ? nil : Self.shutDownProblem
    }

    func shutdown() async {
        let last = state.withLock { state in
            defer { state = .shutDown }
            return state
        }
        if case .made(let made) = last { await discard(made) }
    }
}

/// What fetches a provider's security events, once its secret and its certificates can be read.
typealias PendingPoller = Pending<SecurityEventPoller>

final class PendingDirectory: IdentityDirectory {
    let name: ProviderName
    private let pending: Pending<any IdentityDirectory>

    init(
        _ name: ProviderName,
        make: @escaping @Sendable () async throws -> any IdentityDirectory
    ) {
        self.name = name
        pending = Pending(discard: { await $0.shutdown() }, make: make)
    }

    var isSetUp: Bool { pending.value != nil }

    /// Returns why it cannot be set up; `nil` once it is.
    func setUp() async -> String? { await pending.setUp() }

    func links(of user: UserID) async -> DirectoryAnswer {
        await pending.value?.links(of: user) ?? .failure(.misconfigured)
    }

    func diagnose() async -> EffectFailure? {
        if await setUp() != nil { return .misconfigured }
        return await pending.value?.diagnose()
    }

    func shutdown() async { await pending.shutdown() }
}

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

    func isName(_ name: Secret, of subject: Secret) -> Bool {
        provider?.isName(name, of: subject) ?? name.isEqual(to: subject)
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
    private let pending: Pending<(any NotificationReceiver)?>

    init(_ name: ProviderName, make: @escaping @Sendable () throws -> (any NotificationReceiver)?) {
        self.name = name
        pending = Pending(discard: { await $0?.shutdown() }, make: make)
    }

    func verify(
        _ notification: IncomingNotification
    ) async throws(NotificationRefusal) -> VerifiedNotification {
        guard await pending.setUp() == nil, let receiver = pending.value ?? nil else {
            // The sender comes again.
            throw NotificationRefusal(
                .keysUnavailable,
                provider: name,
                answer: NotificationAnswer(status: 503)
            )
        }
        return try await receiver.verify(notification)
    }

    func shutdown() async { await pending.shutdown() }
}

/// A store that cannot be set up yet: its credential or certificate file cannot be read.
///
/// Until an inspection can set it up it answers `misconfigured`, so that its work waits. Then it
/// is the store itself.
final class PendingStore: StoreWrapper, KeySource {
    let name: StoreName
    private let pending: Pending<any PurgeStore>

    init(_ name: StoreName, make: @escaping @Sendable () async throws -> any PurgeStore) {
        self.name = name
        pending = Pending(discard: { await $0.shutdown() }, make: make)
    }

    var inner: any PurgeStore { pending.value ?? MisconfiguredStore(name: name) }

    func inspect(withOutages: Bool) async -> StoreFindings {
        if let problem = await pending.setUp() { return StoreFindings(problems: [problem]) }
        return await inner.inspect(withOutages: withOutages)
    }

    /// Also of a kind of store that has no keys, which nothing is keyed by.
    private var source: any KeySource { inner as? any KeySource ?? MisconfiguredStore(name: name) }

    func keys(_ key: String, of orders: [PurgeOrder]) async -> [KeysAnswer] {
        await source.keys(key, of: orders)
    }

    func named(
        _ ids: [UserID],
        as key: String,
        besides orders: [PurgeOrder]
    ) async -> OwnersAnswer {
        await source.named(ids, as: key, besides: orders)
    }

    func shutdown() async { await pending.shutdown() }
}

private struct MisconfiguredStore: KeySource, UserListing, RowHolding, CoverageSearching,
    RuleSuggesting
{
    let name: StoreName

    func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        orders.map { $0.isStopped ? .stopped : .failure(.misconfigured) }
    }

    func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer] {
        orders.map { _ in .failure(.misconfigured) }
    }

    func plan(_ order: PurgeOrder) async -> PlanAnswer { .failure(.misconfigured) }
    func inspect(withOutages: Bool) async -> StoreFindings { StoreFindings(problems: []) }
    func shutdown() async {}

    func users(where isWanted: @escaping @Sendable (UserID) -> Bool) async -> UsersAnswer {
        .failure(.misconfigured)
    }

    func check(_ filter: RowFilter) async -> FilterAnswer { .failure(.misconfigured) }
    func coverage() async -> CoverageAnswer { .failure(.misconfigured) }

    func suggestion(userTable: String?) async -> SuggestionAnswer { .failure(.misconfigured) }

    func keys(_ key: String, of orders: [PurgeOrder]) async -> [KeysAnswer] {
        orders.map { _ in .failure(.misconfigured) }
    }

    func named(
        _ ids: [UserID],
        as key: String,
        besides orders: [PurgeOrder]
    ) async -> OwnersAnswer { .failure(.misconfigured) }
}
