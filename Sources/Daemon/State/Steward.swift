import Engine
import Lifecycle
import Storage

/// Has one host do what is done once for all; a single host always is the one.
struct Steward: Sendable {
    /// `nil` while another host is the steward.
    let current: @Sendable () -> Stewardship?
    /// Waits until a host that is none looks again.
    let rest: @Sendable () async throws -> Void

    static let single = Steward(current: { Stewardship(claims: []) }, rest: {})

    private static let pause = Duration.seconds(1)

    var isHere: Bool { current() != nil }

    static func of(_ engine: DeletionEngine, _ clock: any EngineClock) -> Steward {
        Steward(
            current: { engine.stewardship },
            rest: { try await clock.sleep(until: clock.now() + pause) }
        )
    }

    /// Returns when this host is the steward.
    ///
    /// - Throws: `CancellationError`.
    func wait() async throws {
        while !isHere { try await rest() }
    }

    /// Does a piece of work, of which every write needs the claim of the steward.
    ///
    /// - Returns: `nil` where another host is the steward, or became it meanwhile, and does the
    ///   rest.
    /// - Throws: What `body` throws.
    func run<Answer>(_ body: () async throws -> Answer) async throws -> Answer? {
        guard let stewardship = current() else { return nil }
        do {
            return try await WriteTerms.$claims.withValue(stewardship.claims) { try await body() }
        } catch let error as StorageError where error.kind == .lostPartition {
            return nil
        }
    }
}
