package import Engine
package import HTTP
package import Lifecycle
import Synchronization

/// A Realtime Database of Firebase.
///
/// It knows no time of creation but one that the application writes; without that there is no
/// cutoff. An interrupted purge finds what is left when it is asked again.
package struct RealtimeDatabaseTarget: PurgeTarget {
    package let name: TargetName
    private let plan: RealtimeDatabaseTargetPlan
    private let tree: RealtimeTree
    private let clock: TargetClock
    private let client: GoogleClient

    /// Prepares the calls; no connection is made yet.
    ///
    /// - Parameters:
    ///   - plan: The database and where users' data is.
    ///   - client: Makes the calls; ``shutdown()`` ends it.
    ///   - settings: What the client was made with.
    ///   - clock: Paces the writes.
    /// - Throws: ``HTTP/SetupError`` for a URL that tokens must not go to.
    package init(
        plan: RealtimeDatabaseTargetPlan,
        client: GoogleClient,
        settings: RemoteSettings,
        clock: TargetClock
    ) throws(SetupError) {
        name = plan.name
        self.plan = plan
        self.clock = clock
        self.client = client
        tree = try RealtimeTree(plan, client: client, settings: settings)
    }

    /// Closes the connections.
    package func shutdown() async { await client.shutdown() }

    /// Deletes what is at each user's paths; a path counts as one.
    package func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        await GoogleOrders.map(orders) { order throws(GoogleFailure) in
            guard !order.isStopped else { return .stopped }
            let sweep = sweep(order)
            var counts = PurgeCounts()
            for (path, names) in try owned(order) {
                var entry = PurgeCounts.Entry(name: "\(path)", action: "delete", rowCount: 0)
                switch try await sweep.remove(names) {
                case .empty: break
                case .gone: entry.rowCount = 1
                case .newer:
                    entry.newerCount = 1
                    counts.note(Self.older(at: path))
                }
                counts.entries.append(entry)
            }
            return .done(counts)
        } failure: {
            .failure($0)
        }
    }

    /// Reads in other ways what is there.
    package func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer] {
        await GoogleOrders.map(orders) { order throws(GoogleFailure) in
            let sweep = sweep(order)
            var left = 0
            for (_, names) in try owned(order) {
                guard try await sweep.age(names) != .newer else { continue }
                left += try await sweep.remaining(names)
            }
            return left == 0 ? .clean : .remaining(left)
        } failure: {
            .failure($0)
        }
    }

    /// Tells at which paths there is something.
    package func plan(_ order: PurgeOrder) async -> PlanAnswer {
        let found: [PlanAnswer] = await GoogleOrders.map([order]) { order throws(GoogleFailure) in
            let sweep = sweep(order)
            var items: [PlanItem] = []
            for (path, names) in try owned(order) {
                let age = try await sweep.age(names)
                let content = try await tree.firstKeys(at: names)
                let count = RealtimeSweep.count(content) > 0 ? 1 : 0
                items.append(
                    PlanItem(
                        name: "\(path)",
                        action: .delete,
                        count: age == .newer ? 0 : count,
                        newerCount: age == .newer ? count : 0,
                        undatedCount: age == .undated ? count : 0,
                        hasNoTimestamps: plan.createdAtChild == nil
                    )
                )
            }
            return .items(items)
        } failure: {
            .failure($0)
        }
        return found[0]
    }

    /// Whether the database is there and permits what a purge needs.
    package func diagnose() async -> [String] { await problems(withOutages: true) }

    /// Only a refusal: an outage at Google must not keep the service from starting.
    package func startupProblems() async -> [String] { await problems(withOutages: false) }

    /// Reads the keys that are named after users, all of one place in one answer, as it comes.
    package func users(
        where isWanted: @escaping @Sendable (UserID) -> Bool
    ) async -> UsersAnswer {
        let found = Mutex(Set<UserID>())
        do throws(GoogleFailure) {
            for path in plan.paths {
                let isListed = try await tree.forEachKey(at: path.root) { key in
                    guard let user = path.user(in: key), isWanted(user) else { return }
                    found.withLock { _ = $0.insert(user) }
                }
                guard isListed else {
                    return .unknown("'\(path)' has more keys than the database lists at once")
                }
            }
            return .found(Array(found.withLock { $0 }))
        } catch {
            return .failure(error.failure)
        }
    }

    /// Looks for keys that no rule leads to, at the root and along the paths.
    package func coverage() async -> CoverageAnswer {
        var unmapped = UnmappedTree(list: { place throws(GoogleFailure) in
            switch try await tree.firstKeys(at: place) {
            case .nothing, .value: UnmappedTree.Level()
            case .keys(let keys):
                UnmappedTree.Level(names: keys, isWhole: keys.count < tree.pageSize)
            case .large: UnmappedTree.Level(isWhole: false)
            }
        })
        do throws(GoogleFailure) {
            try await unmapped.look(plan.paths.map { UnmappedTree.Rule($0) })
        } catch {
            return .failure(error.failure)
        }
        return .findings(unmapped.findings(plan.paths.map(\.description)))
    }

    /// Tries what a purge does at a place that nobody has.
    private func problems(withOutages: Bool) async -> [String] {
        let nobody = UserID.nobody()
        do throws(GoogleFailure) {
            for path in plan.paths {
                guard let names = path.names(of: nobody) else { continue }
                _ = try await tree.keys(at: names)
                _ = try await tree.firstChild(at: names)
                _ = try await tree.delete(names)
            }
            return []
        } catch {
            guard withOutages || error.failure == .misconfigured else { return [] }
            return [GoogleFailure.sentence(error.failure, "the database")]
        }
    }

    /// The date of a path is that of an account, not of each child: one that the application made
    /// anew in what another purge had left may stand beside older data.
    private static func older(at path: UserPath) -> PurgeCounts.ResidualCopies {
        PurgeCounts.ResidualCopies(
            text: "older data at '\(path)', if there is any: the application dated it after the"
                + " request",
            until: nil
        )
    }

    private func sweep(_ order: PurgeOrder) -> RealtimeSweep {
        RealtimeSweep(
            tree: tree,
            walk: PageWalk(clock: clock),
            createdAtChild: plan.createdAtChild,
            cutoff: order.cutoff
        )
    }

    /// - Throws: ``GoogleFailure`` for an id that no key can be.
    private func owned(
        _ order: PurgeOrder
    ) throws(GoogleFailure) -> [(path: UserPath, names: [String])] {
        var owned: [(UserPath, [String])] = []
        for path in plan.paths {
            guard let names = path.names(of: order.user) else { throw GoogleFailure(.unusable) }
            owned.append((path, names))
        }
        return owned
    }
}
