package import Engine
package import Lifecycle
import NIOCore

/// A Redis server: keys by name or pattern, and members of hashes, sets and sorted sets.
///
/// A connection lasts for one call. An interrupted purge finds what is left when it is asked again.
/// Redis keeps no creation times, so there is no time cutoff.
package struct RedisStore: UserListing, CoverageSearching {
    package let name: StoreName
    let settings: RedisKind
    var password: Secret?
    /// How long its append-only file holds what was deleted; `nil` when the settings do not say.
    var residualCopiesKept: Duration?
    let group: any EventLoopGroup
    let clock: StoreClock

    package func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        await swept(orders, .remove, stopped: .stopped) { sweep, connection throws(RedisError) in
            let residualCopies = try await residualCopies(connection)
            return sweep.counts.map { counts in
                .done(PurgeCounts(entries: entries(counts), residualCopies: residualCopies))
            }
        } failure: {
            .failure($0)
        }
    }

    /// Looks for each user's names with other commands and counts what is there.
    package func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer] {
        await swept(orders, .verify) { sweep, _ throws(RedisError) in
            sweep.counts.map { counts in
                let left = counts.reduce(0, +)
                return left == 0 ? .clean : .remaining(left)
            }
        } failure: {
            .failure($0)
        }
    }

    package func plan(_ order: PurgeOrder) async -> PlanAnswer {
        let answers = await swept([order], .preview) { sweep, _ throws(RedisError) in
            sweep.counts.map { counts in
                .items(entries(counts).map { PlanItem(deletion: $0, hasNoTimestamps: true) })
            }
        } failure: {
            PlanAnswer.failure($0)
        }
        return answers[0]
    }

    /// Whether the server accepts the password, is no replica, and permits what a purge needs.
    package func inspect(withOutages: Bool) async -> StoreFindings {
        do throws(RedisError) {
            return try await connected { connection throws(RedisError) in
                let diagnosis = RedisDiagnosis(settings: settings, connection: connection)
                return StoreFindings(
                    problems: try await diagnosis.problems(),
                    advice: try await diagnosis.advice()
                )
            }
        } catch {
            switch error {
            case .unreachable, .lost, .busy:
                guard withOutages else { return StoreFindings(problems: []) }
            case .unauthenticated, .denied, .cluster, .wrongType, .unusable, .unusableFile: break
            }
            return StoreFindings(problems: [RedisDiagnosis.advice(error, settings)])
        }
    }

    package func shutdown() async {}

    /// Goes through all keys and members that a rule may be for.
    package func users(where isWanted: @escaping UserFilter) async -> UsersAnswer {
        do throws(RedisError) {
            return .found(
                try await connected { connection throws(RedisError) in
                    let sweep = RedisSweep(self, .preview, of: [], over: connection)
                    var scan = RedisUserScan(sweep: sweep, isWanted: isWanted)
                    try await scan.run()
                    return Array(scan.found)
                }
            )
        } catch {
            return .failure(error.failure)
        }
    }

    /// Looks at a sample of the keys for families that no rule deals with.
    package func coverage() async -> CoverageAnswer {
        do throws(RedisError) {
            return .findings(
                try await connected { connection throws(RedisError) in
                    let sweep = RedisSweep(self, .preview, of: [], over: connection)
                    return try await RedisCoverage(settings: settings).findings(sweep)
                }
            )
        } catch {
            return .failure(error.failure)
        }
    }

    // MARK: Calls

    private func connected<Result: Sendable>(
        _ body: (RedisConnection) async throws(RedisError) -> Result
    ) async throws(RedisError) -> Result {
        let connection = try await RedisConnection.open(for: self)
        do throws(RedisError) {
            let result = try await body(connection)
            await connection.close()
            return result
        } catch {
            await connection.close()
            throw error
        }
    }

    /// Makes one pass for all orders whose user can have names here, and puts the answers in order.
    ///
    /// An id that holds a separator is answered `unusable`: what its names are cannot be told apart
    /// from another user's, and nothing is called erased for it. What is stopped when the pass
    /// begins takes no part in it.
    private func swept<Answer: Sendable>(
        _ orders: [PurgeOrder],
        _ purpose: RedisSweep.Purpose,
        stopped: Answer? = nil,
        _ answers: (RedisSweep, RedisConnection) async throws(RedisError) -> [Answer],
        failure: (EffectFailure) -> Answer
    ) async -> [Answer] {
        let patterns = settings.keys + settings.members.map(\.member)
        let isFit = orders.map { order in
            patterns.allSatisfy { $0.names(of: order.user) != nil }
        }
        guard isFit.contains(true) else { return orders.map { _ in failure(.unusable) } }
        do throws(RedisError) {
            return try await connected { connection throws(RedisError) in
                let isStopped = orders.map(\.isStopped)
                // Two requests of one user share the pass and its counts.
                var places: [UserID: Int] = [:]
                var users: [UserID] = []
                for (index, order) in orders.enumerated()
                where isFit[index] && !isStopped[index] && places[order.user] == nil {
                    places[order.user] = users.count
                    users.append(order.user)
                }
                var found: [Answer] = []
                if !users.isEmpty {
                    var sweep = RedisSweep(self, purpose, of: users, over: connection)
                    try await sweep.run()
                    found = try await answers(sweep, connection)
                }
                return orders.enumerated().map { index, order in
                    guard isFit[index] else { return failure(.unusable) }
                    if isStopped[index], let stopped { return stopped }
                    return places[order.user].map { found[$0] } ?? failure(.unusable)
                }
            }
        } catch {
            return isFit.map { failure($0 ? error.failure : .unusable) }
        }
    }

    private func entries(_ counts: [Int]) -> [PurgeCounts.Entry] {
        zip(settings.rules, counts).map { name, count in
            PurgeCounts.Entry(name: name, action: .rule(.delete), rowCount: count)
        }
    }

    /// Copies that outlive the keys, as far as the server lets us know.
    private func residualCopies(
        _ connection: RedisConnection
    ) async throws(RedisError) -> [PurgeCounts.ResidualCopies] {
        let info = RedisInfo(try await connection.send([RedisInfo.command()])[0])
        var copies: [PurgeCounts.ResidualCopies] = []
        if info["aof_enabled"] == "1" {
            let end = residualCopiesKept.map { clock.wall() + $0 }
            copies.append(PurgeCounts.ResidualCopies(.appendOnlyFile, until: end))
        }
        if let replicas = info["connected_slaves"].flatMap(Int.init), replicas > 0 {
            let limit = "\(RedisLimits.replicaWait)"
            let reply = try await connection.ask("WAIT", "\(replicas)", limit)
            if (reply.integer ?? 0) < replicas {
                copies.append(PurgeCounts.ResidualCopies(.laggingCaches, until: nil))
            }
        }
        return copies
    }
}
