import Engine
import Lifecycle

/// A directory that cannot be set up yet: its key file cannot be read.
final class PendingDirectory: IdentityDirectory {
    let name: ProviderName
    private let pending: Pending<any IdentityDirectory>

    /// - Parameters:
    ///   - name: The directory's name.
    ///   - make: Tries to set it up.
    init(
        _ name: ProviderName,
        make: @escaping @Sendable () async throws -> any IdentityDirectory
    ) {
        self.name = name
        pending = Pending(discard: { await $0.shutdown() }, make: make)
    }

    /// Whether it could be set up by now.
    var isSetUp: Bool { pending.value != nil }

    /// Sets the directory up, unless that was done before.
    ///
    /// - Returns: Why it cannot be set up; `nil` once it is.
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
