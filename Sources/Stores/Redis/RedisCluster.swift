import Lifecycle
import NIOCore
import Synchronization

/// The masters of a cluster: a command goes to the one that has its key, wherever that is by now.
final class RedisCluster: Sendable {
    typealias Place = RedisTopology.Place

    private struct State {
        var topology: RedisTopology
        var connections: [Place: RedisConnection] = [:]
    }

    /// One command about one key, and the command of the caller that it is a part of.
    private struct Piece {
        let words: [[UInt8]]
        let command: Int
    }

    private let plan: RedisTargetPlan
    private let group: any EventLoopGroup
    private let clock: TargetClock
    private let seed: RedisConnection
    private let host: String
    private let state: Mutex<State>

    /// - Throws: ``RedisError`` for nodes that cannot be asked for, or do not have all slots.
    init(
        _ plan: RedisTargetPlan,
        on group: any EventLoopGroup,
        clock: TargetClock,
        seed: RedisConnection
    ) async throws(RedisError) {
        guard case .host(let host, _, _) = plan.address, plan.database == 0 else { throw .cluster }
        (self.plan, self.group, self.clock) = (plan, group, clock)
        (self.seed, self.host) = (seed, host)
        state = Mutex(State(topology: try await Self.topology(seed, host)))
    }

    func close() async {
        let connections = state.withLock { state in
            let connections = Array(state.connections.values)
            state.connections = [:]
            return connections
        }
        for connection in connections { await connection.close() }
    }

    /// The places of all masters, for other ways in.
    var places: [Place] { topology.places }

    /// A connection to each master.
    func masters() async throws(RedisError) -> [RedisConnection] {
        var connections: [RedisConnection] = []
        for place in places { connections.append(try await connection(place)) }
        return connections
    }

    var topology: RedisTopology { state.withLock { $0.topology } }

    /// Refuses what was read while keys moved from one master to another: a pass may have missed
    /// them.
    ///
    /// - Parameter before: Whose keys were whose when the pass began.
    /// - Throws: ``RedisError``.
    func confirm(_ before: RedisTopology) async throws(RedisError) {
        for connection in try await masters() {
            let after = try await Self.topology(connection, host)
            guard after.shares == before.shares, !after.isMoving else { throw .busy }
        }
    }

    // MARK: Commands

    /// Sends each command to the master of its key, the first word behind the verb.
    ///
    /// - Throws: ``RedisError``, also when keys go on moving.
    func send(_ commands: [[[UInt8]]]) async throws(RedisError) -> [RESPValue] {
        let pieces = commands.enumerated().flatMap { Self.pieces($0.element, $0.offset) }
        var replies = [RESPValue](repeating: .null, count: pieces.count)
        var open = Array(pieces.indices)
        for tries in 0...RedisLimits.redirections {
            if tries > 0 {
                try await rest(RetryPolicy.movingKey.delay(failures: tries))
                try await refresh()
            }
            open = try await send(pieces, open, &replies)
            if open.isEmpty { return Self.merged(pieces, replies, count: commands.count) }
        }
        throw .busy
    }

    /// - Returns: Those to send again.
    private func send(
        _ pieces: [Piece],
        _ indices: [Int],
        _ replies: inout [RESPValue]
    ) async throws(RedisError) -> [Int] {
        var groups: [Place: [Int]] = [:]
        for index in indices {
            let slot = RedisSlot.slot(of: pieces[index].words[1])
            guard let place = state.withLock({ $0.topology.place(of: slot) }) else { throw .busy }
            groups[place, default: []].append(index)
        }
        var open: [Int] = []
        for (place, indices) in groups {
            let answers = try await connection(place).send(indices.map { pieces[$0].words })
            for (index, answer) in zip(indices, answers) {
                var answer = answer
                if case .redirection(let redirection) = answer, redirection.isAsk {
                    let host = redirection.host.isEmpty ? place.host : redirection.host
                    let other = try await connection(Place(host: host, port: redirection.port))
                    let asking = [Array("ASKING".utf8)]
                    answer = try await other.send([asking, pieces[index].words])[1]
                }
                switch answer {
                case .redirection, .error("TRYAGAIN"), .error("CLUSTERDOWN"): open.append(index)
                default: replies[index] = answer
                }
            }
        }
        return open
    }

    /// Commands about several keys are made key by key: they may be on several masters.
    private static func pieces(_ words: [[UInt8]], _ command: Int) -> [Piece] {
        let isList = [Array("UNLINK".utf8), Array("EXISTS".utf8)].contains(words[0])
        guard isList, words.count > 2 else { return [Piece(words: words, command: command)] }
        return words.dropFirst().map { Piece(words: [words[0], $0], command: command) }
    }

    /// Adds up what the parts of each command answered.
    private static func merged(
        _ pieces: [Piece],
        _ replies: [RESPValue],
        count: Int
    ) -> [RESPValue] {
        var merged = [RESPValue?](repeating: nil, count: count)
        for (piece, reply) in zip(pieces, replies) {
            switch (merged[piece.command], reply) {
            case (nil, _), (.integer?, .error): merged[piece.command] = reply
            case (.integer(let sum)?, .integer(let more)):
                merged[piece.command] = .integer(sum + more)
            default: break
            }
        }
        return merged.map { $0 ?? .null }
    }

    // MARK: Nodes

    private func refresh() async throws(RedisError) {
        let topology = try await Self.topology(seed, host)
        state.withLock { $0.topology = topology }
    }

    private static func topology(
        _ connection: RedisConnection,
        _ host: String
    ) async throws(RedisError) -> RedisTopology {
        let reply = try await connection.ask("CLUSTER", "NODES")
        guard let bytes = reply.bytes,
            let topology = RedisTopology(String(decoding: bytes, as: UTF8.self), from: host)
        else { throw .busy }
        return topology
    }

    private func connection(_ place: Place) async throws(RedisError) -> RedisConnection {
        if let known = state.withLock({ $0.connections[place] }), known.isOpen { return known }
        guard case .host(_, _, let isPlain) = plan.address else { throw .cluster }
        // The password goes to no other machine without TLS.
        guard !isPlain || place.isLoopback else { throw .cluster }
        var plan = plan
        plan.address = .host(place.host, port: place.port, isPlain: isPlain)
        let connection = try await RedisConnection.open(plan, on: group)
        let replaced = state.withLock { $0.connections.updateValue(connection, forKey: place) }
        await replaced?.close()
        return connection
    }

    private func rest(_ duration: Duration) async throws(RedisError) {
        do { try await clock.rest(duration) } catch { throw RedisError.lost }
    }
}
