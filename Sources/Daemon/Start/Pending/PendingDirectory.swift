import Engine
import Lifecycle

/// A directory whose key file cannot be read yet.
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
