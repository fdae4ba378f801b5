package import Engine
package import HTTP
package import Lifecycle
package import Logging
package import NIOCore

/// A bucket of Amazon S3 or of a server that speaks its protocol.
///
/// Every version, delete marker and unfinished upload of a user goes. An interrupted purge finds
/// what is left when it is asked again.
package struct S3Target: PurgeTarget {
    package let name: TargetName
    private let plan: S3TargetPlan
    private let client: S3Client
    private let clock: TargetClock

    var bucket: S3Bucket { S3Bucket(client: client, target: name, pageSize: plan.pageSize) }

    var templates: [KeyTemplate] { plan.templates }

    /// Goes through pages of listings that are about nobody's objects alone.
    var listing: S3Sweep { S3Sweep(bucket: bucket, clock: clock, cutoff: .distantPast) }

    /// Prepares the calls; no connection is made yet.
    ///
    /// - Parameters:
    ///   - plan: The bucket and where users' objects are.
    ///   - group: Runs the connections; owned by the caller.
    ///   - clock: Paces the listings, dates the signatures.
    ///   - logger: Gets one debug line when the shutdown was not clean.
    /// - Throws: ``HTTP/SetupError`` for an endpoint or certificate file that cannot be used.
    package init(
        plan: S3TargetPlan,
        on group: any EventLoopGroup,
        clock: TargetClock,
        logger: Logger
    ) throws(SetupError) {
        name = plan.name
        self.plan = plan
        self.clock = clock
        client = try S3Client(plan, on: group, now: clock.wall, logger: logger)
    }

    /// Closes the connections.
    package func shutdown() async { await client.shutdown() }

    /// Deletes what is each user's; what a lock protects lingers.
    package func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        await answers(orders) { order, sweep, owned throws(S3Error) in
            guard !order.isStopped else { return .stopped }
            var counts = PurgeCounts()
            for (template, own) in owned {
                let counter = try await sweep.remove(template, own)
                counts.entries += entries(template, counter)
                for lock in counter.locks { counts.note(residualCopies(lock)) }
            }
            return .done(counts)
        } failure: {
            .failure($0)
        }
    }

    /// Lists by other queries and counts what is there.
    package func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer] {
        await answers(orders) { _, sweep, owned throws(S3Error) in
            var left = Leftover()
            for (template, own) in owned {
                left.add(try await sweep.remaining(template, own), at: template.description)
            }
            return left.answer
        } failure: {
            .failure($0)
        }
    }

    /// Counts what is one user's.
    package func plan(_ order: PurgeOrder) async -> PlanAnswer {
        let found: [PlanAnswer] = await answers([order]) { _, sweep, owned throws(S3Error) in
            var items: [PlanItem] = []
            for (template, own) in owned {
                let counter = try await sweep.preview(template, own)
                items += entries(template, counter).map(PlanItem.init(deletion:))
            }
            return .items(items)
        } failure: {
            .failure($0)
        }
        return found[0]
    }

    /// Whether the bucket is there and permits what a purge needs.
    package func diagnose() async -> [String] { await S3Diagnosis(plan, bucket).problems() }

    /// Without what an outage explains.
    package func startupProblems() async -> [String] {
        await S3Diagnosis(plan, bucket).problems(withOutages: false)
    }

    /// Looks for what no rule leads to: folders of the bucket, and what is beside users' data.
    package func coverage() async -> CoverageAnswer {
        do throws(S3Error) {
            let unmapped = try await unmappedFolders()
            return .findings(try await userFolders().findings(beside: unmapped))
        } catch {
            return .failure(error.failure)
        }
    }

    private func userFolders() async throws(S3Error) -> UserFolders<S3Error> {
        var folders = UserFolders<S3Error>(plan.templates) { place throws(S3Error) in
            var level = UnmappedTree.Level()
            var pageCount = 0
            try await listing.pages { start throws(S3Error) in
                let page = try await bucket.names(place, delimiter: "/", from: start)
                level.names += page.names.map { UnmappedNames.relative($0, to: place) }
                pageCount += 1
                level.isWhole = page.next == nil
                return pageCount < UnmappedNames.pagesMax ? page.next : nil
            }
            return level
        }
        try await folders.look()
        return folders
    }

    private func unmappedFolders() async throws(S3Error) -> Set<String> {
        let roots = plan.templates.map(\.root)
        var unmapped: Set<String> = []
        for parent in UnmappedNames.parents(of: roots) {
            var place: S3Bucket.Query? = []
            var passed: Set<String> = []
            while let from = place, unmapped.count <= UnmappedNames.namesMax {
                let page = try await bucket.folders(in: parent, from: from)
                unmapped.formUnion(
                    page.names.filter { UnmappedNames.isUnmapped($0, in: parent, plan.templates) }
                )
                place = page.next
                if place != nil, let end = UnmappedNames.end(of: page.names.last, by: roots),
                    passed.insert(end).inserted
                {
                    place = [("start-after", end)]
                }
            }
        }
        return unmapped
    }

    // MARK: Orders

    /// Works on one user after another; once the bucket is gone, wrong or overloaded, no more.
    private func answers<Answer: Sendable>(
        _ orders: [PurgeOrder],
        _ body: (PurgeOrder, S3Sweep, [(KeyTemplate, String)]) async throws(S3Error) -> Answer,
        failure: (EffectFailure) -> Answer
    ) async -> [Answer] {
        var answers: [Answer] = []
        var halt: S3Error?
        for order in orders {
            let owned = plan.templates.compactMap { template in
                template.key(of: order.user).map { (template, $0) }
            }
            guard owned.count == plan.templates.count else {
                answers.append(failure(.unusable))
                continue
            }
            if let halt {
                answers.append(failure(halt.failure))
                continue
            }
            do throws(S3Error) {
                let sweep = S3Sweep(bucket: bucket, clock: clock, cutoff: order.cutoff)
                answers.append(try await body(order, sweep, owned))
            } catch {
                answers.append(failure(error.failure))
                switch error.kind {
                case .unreachable, .lost, .throttled, .refused: halt = error
                case .absent, .unusable: break
                }
            }
        }
        return answers
    }

    private func entries(
        _ template: KeyTemplate,
        _ counter: S3Sweep.Counter
    ) -> [PurgeCounts.Entry] {
        [
            PurgeCounts.Entry(
                name: template.description,
                action: "delete",
                rowCount: counter.versionCount,
                newerCount: counter.newerCount
            ),
            PurgeCounts.Entry(
                name: "unfinished uploads of \(template)",
                action: "delete",
                rowCount: counter.uploadCount
            ),
        ] + [template.ambiguousEntry(counter.ambiguousCount)].compactMap(\.self)
    }

    private func residualCopies(_ lock: S3Bucket.Lock) -> PurgeCounts.ResidualCopies {
        PurgeCounts.ResidualCopies(
            text: "object versions under \(lock.kind.rawValue) lock in bucket '\(plan.bucket)'",
            until: lock.until
        )
    }
}
