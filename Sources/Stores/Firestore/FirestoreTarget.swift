package import Engine
package import HTTP
package import Lifecycle

/// A database of Firestore in native mode.
///
/// Documents go with everything below them; an interrupted purge finds what is left when it is
/// asked again, since each document goes after what is below it.
package struct FirestoreTarget: PurgeTarget {
    /// The most that the database keeps earlier versions for, where it does not say how long
    /// (firebase.google.com/docs/firestore/pitr).
    static let versionRetentionMax = Duration.seconds(7 * 86_400)

    package let name: TargetName
    let plan: FirestoreTargetPlan
    let database: FirestoreDatabase
    let clock: TargetClock
    private let client: GoogleClient
    private let ramp = WriteRamp()

    /// Prepares the calls; no connection is made yet.
    ///
    /// - Parameters:
    ///   - plan: The database and where users' documents are.
    ///   - client: Makes the calls; ``shutdown()`` ends it.
    ///   - settings: What the client was made with.
    ///   - clock: Paces reading and writing.
    /// - Throws: ``HTTP/SetupError`` for a base URL that tokens must not go to.
    package init(
        plan: FirestoreTargetPlan,
        client: GoogleClient,
        settings: RemoteSettings,
        clock: TargetClock
    ) throws(SetupError) {
        name = plan.name
        self.plan = plan
        self.clock = clock
        self.client = client
        database = try FirestoreDatabase(plan, client: client, settings: settings)
    }

    /// Closes the connections.
    package func shutdown() async { await client.shutdown() }

    /// Deletes what is each user's; earlier versions linger.
    package func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        let retention = await versionRetention()
        return await GoogleOrders.map(orders) { order throws(GoogleFailure) in
            guard !order.isStopped else { return .stopped }
            let sweep = sweep(order)
            var counts = PurgeCounts()
            for (path, names) in try owned(order) {
                counts.entries.append(entry("\(path)", try await sweep.remove(names)))
            }
            for query in plan.queries {
                let counter = try await sweep.remove(
                    query,
                    order.user,
                    withDescendants: plan.includesSubcollections
                )
                counts.entries.append(entry("\(query)", counter))
            }
            counts.note(
                PurgeCounts.ResidualCopies(
                    text: "earlier versions of documents in database '\(plan.database)'",
                    until: clock.wall() + retention
                )
            )
            return .done(counts)
        } failure: {
            .failure($0)
        }
    }

    /// Goes through the listings and counts what is there.
    package func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer] {
        await GoogleOrders.map(orders) { order throws(GoogleFailure) in
            let sweep = sweep(order)
            var left = Leftover()
            for (path, names) in try owned(order) {
                left.add(try await sweep.remaining(names), at: "\(path)")
            }
            for query in plan.queries {
                left.add(try await sweep.remaining(query, order.user), at: "\(query)")
            }
            return left.answer
        } failure: {
            .failure($0)
        }
    }

    /// Counts what is one user's.
    package func plan(_ order: PurgeOrder) async -> PlanAnswer {
        let found: [PlanAnswer] = await GoogleOrders.map([order]) { order throws(GoogleFailure) in
            let sweep = sweep(order)
            var items: [PlanItem] = []
            for (path, names) in try owned(order) {
                items.append(item("\(path)", try await sweep.preview(names)))
            }
            for query in plan.queries {
                let counter = try await sweep.preview(
                    query,
                    order.user,
                    withDescendants: plan.includesSubcollections
                )
                items.append(item("\(query)", counter))
            }
            return .items(items)
        } failure: {
            .failure($0)
        }
        return found[0]
    }

    /// Whether the database is there and permits what a purge needs.
    package func diagnose() async -> [String] {
        await FirestoreDiagnosis(plan, database).problems()
    }

    /// Only a refusal: an outage at Google must not keep the service from starting.
    package func startupProblems() async -> [String] {
        await FirestoreDiagnosis(plan, database).problems(withOutages: false)
    }

    /// Looks for collections and documents that no rule leads to, at the root and along the rules.
    package func coverage() async -> CoverageAnswer {
        let groups = Set(plan.queries.filter(\.isGroup).map(\.collection))
        let list = { (place: [String]) async throws(GoogleFailure) -> UnmappedTree.Level in
            if place.count.isMultiple(of: 2) {
                return UnmappedTree.Level(names: try await database.collections(of: place))
            }
            let page = try await database.documents(in: place, from: "")
            return UnmappedTree.Level(
                names: page.documents.compactMap(\.path.last),
                isWhole: page.next == nil
            )
        }
        var unmapped = UnmappedTree(list: list) { name, place in
            place.count.isMultiple(of: 2) && groups.contains(name)
        }
        let rules =
            plan.documents.map { UnmappedTree.Rule($0) }
            + plan.queries.filter { !$0.isGroup }.map { query in
                UnmappedTree.Rule(
                    (query.parent + [query.collection]).map { .name($0) }
                        + (plan.includesSubcollections ? [] : [.any]),
                    takesAllBelow: plan.includesSubcollections
                )
            }
        do throws(GoogleFailure) {
            try await unmapped.look(rules)
        } catch {
            return .failure(error.failure)
        }
        return .findings(
            unmapped.findings(plan.documents.map(\.description) + plan.queries.map(\.description))
        )
    }

    // MARK: Orders

    /// How long earlier versions can be read; the longest when the account may not ask.
    private func versionRetention() async -> Duration {
        do throws(GoogleFailure) {
            return try await database.versionRetention()
        } catch {
            return Self.versionRetentionMax
        }
    }

    private func sweep(_ order: PurgeOrder) -> FirestoreSweep {
        FirestoreSweep(
            database: database,
            walk: PageWalk(clock: clock),
            ramp: ramp,
            batchSize: plan.batchSize,
            cutoff: order.cutoff
        )
    }

    /// - Throws: ``GoogleFailure`` for an id that no document can have.
    private func owned(
        _ order: PurgeOrder
    ) throws(GoogleFailure) -> [(path: UserPath, names: [String])] {
        var owned: [(UserPath, [String])] = []
        for path in plan.documents {
            guard let names = path.names(of: order.user) else { throw GoogleFailure(.unusable) }
            owned.append((path, names))
        }
        return owned
    }

    private func entry(_ name: String, _ counter: FirestoreSweep.Counter) -> PurgeCounts.Entry {
        PurgeCounts.Entry(
            name: name,
            action: "delete",
            rowCount: counter.count,
            newerCount: counter.newerCount
        )
    }

    private func item(_ name: String, _ counter: FirestoreSweep.Counter) -> PlanItem {
        PlanItem(
            name: name,
            action: .delete,
            count: counter.count,
            newerCount: counter.newerCount
        )
    }
}
