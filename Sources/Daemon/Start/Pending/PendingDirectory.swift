import Engine
import HTTP
import Lifecycle
import Synchronization

/// A directory that cannot be set up yet: its key file cannot be read.
final class PendingDirectory: IdentityDirectory {
    typealias Made = AdapterFactory.GoogleMade<any IdentityDirectory>

    let name: ProviderName
    private let make: @Sendable () async throws -> Made
    private let made = Mutex<Made?>(nil)

    /// - Parameters:
    ///   - name: The directory's name.
    ///   - make: Tries to set it up.
    init(_ name: ProviderName, make: @escaping @Sendable () async throws -> Made) {
        self.name = name
        self.make = make
    }

    /// Whether it could be set up by now.
    var isSetUp: Bool { made.withLock { $0 != nil } }

    /// Sets the directory up, unless that was done before.
    ///
    /// - Returns: Why it cannot be set up; `nil` once it is.
    func setUp() async -> String? {
        guard made.withLock({ $0 == nil }) else { return nil }
        let new: Made
        do {
            new = try await make()
        } catch {
            return "\(error)"
        }
        let isFirst = made.withLock { made in
            guard made == nil else { return false }
            made = new
            return true
        }
        if !isFirst { await new.client.shutdown() }
        return nil
    }

    func links(of user: UserID) async -> DirectoryAnswer {
        await made.withLock { $0 }?.made.links(of: user) ?? .trouble(.misconfigured)
    }

    func diagnose() async -> Trouble? {
        if await setUp() != nil { return .misconfigured }
        return await made.withLock { $0 }?.made.diagnose()
    }

    func shutdown() async { await made.withLock { $0 }?.client.shutdown() }
}
