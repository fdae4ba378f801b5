import Lifecycle
import NIOCore
import Synchronization

/// Where other masters of a cluster were, for when the configured one is away.
final class RedisMemory: Sendable {
    private let known = Mutex<[RedisTopology.Place]>([])

    var places: [RedisTopology.Place] {
        get { known.withLock { $0 } }
        set { known.withLock { $0 = newValue } }
    }
}

/// A server, or a cluster of them: what the work on keys talks to.
struct RedisSession: Sendable {
    private let seed: RedisConnection
    private let cluster: RedisCluster?

    /// - Throws: ``RedisError``.
    static func open(
        _ plan: RedisTargetPlan,
        on group: any EventLoopGroup,
        clock: TargetClock,
        _ memory: RedisMemory
    ) async throws(RedisError) -> RedisSession {
        let seed = try await seed(plan, on: group, memory)
        do throws(RedisError) {
            let info = try await RedisInfo(seed)
            guard info.isCluster else { return RedisSession(seed: seed, cluster: nil) }
            let cluster = try await RedisCluster(plan, on: group, clock: clock, seed: seed)
            memory.places = cluster.places
            return RedisSession(seed: seed, cluster: cluster)
        } catch {
            await seed.close()
            throw error
        }
    }

    /// The configured server, or a master that it has named before.
    private static func seed(
        _ plan: RedisTargetPlan,
        on group: any EventLoopGroup,
        _ memory: RedisMemory
    ) async throws(RedisError) -> RedisConnection {
        do throws(RedisError) {
            return try await RedisConnection.open(plan, on: group)
        } catch {
            guard error == .unreachable, case .host(_, _, let isPlain) = plan.address else {
                throw error
            }
            for place in memory.places where !isPlain || place.isLoopback {
                var other = plan
                other.address = .host(place.host, port: place.port, isPlain: isPlain)
                do throws(RedisError) {
                    return try await RedisConnection.open(other, on: group)
                } catch {
                    continue
                }
            }
            throw error
        }
    }

    func close() async {
        await cluster?.close()
        await seed.close()
    }

    /// Every server that has keys of its own.
    func masters() async throws(RedisError) -> [RedisConnection] {
        guard let cluster else { return [seed] }
        return try await cluster.masters()
    }

    /// Sends commands, each about the key behind its verb, and waits for a reply to each; error
    /// replies are among them.
    ///
    /// - Throws: ``RedisError`` of kind `lost` after which the session is of no use.
    func send(_ commands: [[[UInt8]]]) async throws(RedisError) -> [RESPValue] {
        guard let cluster else { return try await seed.send(commands) }
        return commands.isEmpty ? [] : try await cluster.send(commands)
    }

    /// - Throws: ``RedisError`` for the first error reply.
    func checked(_ replies: [RESPValue]) throws(RedisError) -> [RESPValue] {
        try seed.checked(replies)
    }

    /// Whose keys are whose; `nil` for a single server.
    var topology: RedisTopology? { cluster?.topology }

    /// Whether a pass over all masters can have seen all keys.
    ///
    /// - Parameter topology: As it was when the pass began.
    /// - Throws: ``RedisError`` of kind `busy` where keys moved meanwhile.
    func confirm(_ topology: RedisTopology?) async throws(RedisError) {
        guard let cluster, let topology else { return }
        try await cluster.confirm(topology)
    }
}
