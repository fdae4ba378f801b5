package import Engine
package import HTTP
package import Lifecycle

/// A bucket of Google Cloud Storage.
///
/// Every generation of a user's objects goes. An interrupted purge finds what is left when it is
/// asked again.
package struct CloudStorageTarget: PurgeTarget {
    /// The address of an unfinished upload is good for a week
    /// (cloud.google.com/storage/docs/resumable-uploads, "Session URIs").
    static let uploadLifetime = Duration.seconds(7 * 86_400)

    package let name: TargetName
    private let plan: CloudStorageTargetPlan
    private let bucket: CloudBucket
    private let clock: TargetClock
    private let client: GoogleClient

    /// Prepares the calls; no connection is made yet.
    ///
    /// - Parameters:
    ///   - plan: The bucket and where users' objects are.
    ///   - client: Makes the calls; ``shutdown()`` ends it.
    ///   - settings: What the client was made with.
    ///   - clock: Paces the listings.
    /// - Throws: ``HTTP/SetupError`` for a base URL that tokens must not go to.
    package init(
        plan: CloudStorageTargetPlan,
        client: GoogleClient,
        settings: RemoteSettings,
        clock: TargetClock
    ) throws(SetupError) {
        name = plan.name
        self.plan = plan
        self.clock = clock
        self.client = client
        bucket = try CloudBucket(plan, client: client, settings: settings, now: clock.wall)
    }

    /// Closes the connections.
    package func shutdown() async { await client.shutdown() }

    /// Deletes what is each user's; what a lock protects, what is deleted softly and what is being
    /// uploaded lingers.
    package func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        await GoogleOrders.map(orders) { order throws(GoogleFailure) in
            guard !order.isStopped else { return .stopped }
            let sweep = sweep(order)
            let owned = try owned(order)
            var counts = PurgeCounts()
            for (template, own) in owned {
                let counter = try await sweep.remove(template, own)
                counts.entries += entries(template, counter)
                for lock in counter.locks { counts.note(residualCopies(lock)) }
            }
            if let copies = try await softDeleted(owned.map(\.own)) { counts.note(copies) }
            counts.note(
                PurgeCounts.ResidualCopies(
                    text: "unfinished uploads to bucket '\(plan.bucket)', if there are any: the"
                        + " bucket does not list them",
                    until: clock.wall() + Self.uploadLifetime
                )
            )
            return .done(counts)
        } failure: {
            .failure($0)
        }
    }

    /// Lists by other queries and counts what is there.
    package func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer] {
        await GoogleOrders.map(orders) { order throws(GoogleFailure) in
            let sweep = sweep(order)
            var left = Leftover()
            for (template, own) in try owned(order) {
                left.add(try await sweep.remaining(template, own), at: template.description)
            }
            return left.answer
        } failure: {
            .failure($0)
        }
    }

    /// Counts what is one user's, a hundred thousand generations per rule at most.
    package func plan(_ order: PurgeOrder) async -> PlanAnswer {
        let found: [PlanAnswer] = await GoogleOrders.map([order]) { order throws(GoogleFailure) in
            let sweep = sweep(order)
            var items: [PlanItem] = []
            for (template, own) in try owned(order) {
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
    package func diagnose() async -> [String] {
        let diagnosis = CloudStorageDiagnosis(plan, bucket)
        return await diagnosis.problems() + diagnosis.gaps()
    }

    /// Only a refusal: an outage at Google must not keep the service from starting.
    package func startupProblems() async -> [String] {
        await CloudStorageDiagnosis(plan, bucket).problems(withOutages: false)
    }

    /// Goes through the users that the names tell, a page at a time.
    package func users(
        where isWanted: @escaping @Sendable (UserID) -> Bool
    ) async -> UsersAnswer {
        var found: Set<UserID> = []
        do throws(GoogleFailure) {
            for template in plan.templates {
                let range: CloudBucket.Range =
                    template.delimiter.map { .names(prefix: template.root, delimiter: $0) }
                    ?? .generations(prefix: template.root)
                var token: String?
                try await PageWalk(clock: clock).run { () throws(GoogleFailure) in
                    let page = try await bucket.page(range, from: token)
                    let names = page.folders + page.versions.map(\.name)
                    found.formUnion(names.compactMap(template.user).filter(isWanted))
                    token = page.next
                    return token != nil
                }
            }
            return .found(Array(found))
        } catch {
            return .failure(error.failure)
        }
    }

    /// Looks for what no rule leads to: folders of the bucket, and what is beside users' data.
    package func coverage() async -> CoverageAnswer {
        do throws(GoogleFailure) {
            let unmapped = try await unmappedFolders()
            return .findings(try await userFolders().findings(beside: unmapped))
        } catch {
            return .failure(error.failure)
        }
    }

    private func userFolders() async throws(GoogleFailure) -> UserFolders<GoogleFailure> {
        var folders = UserFolders<GoogleFailure>(plan.templates) { place throws(GoogleFailure) in
            var level = UnmappedTree.Level()
            var (token, pageCount) = (String?.none, 0)
            let range = CloudBucket.Range.names(prefix: place, delimiter: "/")
            try await PageWalk(clock: clock).run { () throws(GoogleFailure) in
                let page = try await bucket.page(range, from: token)
                let names = page.folders + page.versions.map(\.name)
                level.names += names.map { UnmappedNames.relative($0, to: place) }
                    // The emulator gives what is deeper, too.
                    .filter { !$0.dropLast().contains("/") }
                token = page.next
                pageCount += 1
                level.isWhole = token == nil
                return token != nil && pageCount < UnmappedNames.pagesMax
            }
            return level
        }
        try await folders.look()
        return folders
    }

    private func unmappedFolders() async throws(GoogleFailure) -> Set<String> {
        let roots = plan.templates.map(\.root)
        var unmapped: Set<String> = []
        for parent in UnmappedNames.parents(of: roots) {
            var passed: Set<String> = []
            var (start, token) = ("", String?.none)
            try await PageWalk(clock: clock).run { () throws(GoogleFailure) in
                let range = CloudBucket.Range.folders(parent: parent, from: start)
                let page = try await bucket.page(range, from: token)
                var names = page.folders
                // The emulator gives what is deeper, too.
                if page.versions.contains(where: { !$0.name.dropFirst(parent.count).contains("/") })
                {
                    names.append(parent + "*")
                }
                unmapped.formUnion(
                    names.filter { UnmappedNames.isUnmapped($0, in: parent, plan.templates) }
                )
                token = page.next
                if token != nil, let end = UnmappedNames.end(of: page.folders.last, by: roots),
                    passed.insert(end).inserted
                {
                    (start, token) = (end, nil)
                    return true
                }
                return token != nil && unmapped.count <= UnmappedNames.namesMax
            }
        }
        return unmapped
    }

    // MARK: Orders

    private func sweep(_ order: PurgeOrder) -> CloudStorageSweep {
        CloudStorageSweep(bucket: bucket, walk: PageWalk(clock: clock), cutoff: order.cutoff)
    }

    /// - Throws: ``GoogleFailure`` for an id whose objects could not be told from another's.
    private func owned(
        _ order: PurgeOrder
    ) throws(GoogleFailure) -> [(template: KeyTemplate, own: String)] {
        var owned: [(KeyTemplate, String)] = []
        for template in plan.templates {
            guard let own = template.key(of: order.user), own != ".", own != ".." else {
                throw GoogleFailure(.unusable)
            }
            owned.append((template, own))
        }
        return owned
    }

    /// What the bucket keeps of what was deleted, now or before; `nil` when it keeps nothing.
    ///
    /// - Throws: ``GoogleFailure`` for what waiting mends: the date is worth another try.
    private func softDeleted(
        _ prefixes: [String]
    ) async throws(GoogleFailure) -> PurgeCounts.ResidualCopies? {
        let text = "soft-deleted objects of bucket '\(plan.bucket)'"
        let retention: Duration
        do throws(GoogleFailure) {
            retention = try await bucket.softDeletion()
        } catch {
            guard error.failure == .misconfigured else { throw error }
            return PurgeCounts.ResidualCopies(text: text, until: nil)
        }
        guard retention > .zero else { return nil }
        do throws(GoogleFailure) {
            var end: WallTime?
            for prefix in prefixes {
                let found = try await bucket.softDeletionEnd(prefix, retention: retention)
                guard let found else { continue }
                end = max(end ?? found, found)
            }
            return end.map { PurgeCounts.ResidualCopies(text: text, until: $0) }
        } catch {
            guard error.failure == .misconfigured else { throw error }
            return PurgeCounts.ResidualCopies(text: text, until: clock.wall() + retention)
        }
    }

    private func entries(
        _ template: KeyTemplate,
        _ counter: CloudStorageSweep.Counter
    ) -> [PurgeCounts.Entry] {
        let deleted = PurgeCounts.Entry(
            name: template.description,
            action: "delete",
            rowCount: counter.count,
            newerCount: counter.newerCount
        )
        return [deleted] + [template.ambiguousEntry(counter.ambiguousCount)].compactMap(\.self)
    }

    private func residualCopies(_ lock: CloudBucket.Lock) -> PurgeCounts.ResidualCopies {
        PurgeCounts.ResidualCopies(
            text: "objects under \(lock.kind.rawValue) in bucket '\(plan.bucket)'",
            until: lock.until
        )
    }
}
