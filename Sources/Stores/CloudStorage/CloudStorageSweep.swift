import Lifecycle

/// Goes through what a bucket has of one user: removes it, or counts what is left.
struct CloudStorageSweep {
    typealias Version = CloudBucket.Version

    /// What was found by one template.
    struct Counter: Sendable {
        var count = 0
        /// Newer than the cutoff.
        var newerCount = 0
        /// Left alone, since they may be another user's (``KeyTemplate/isAmbiguous(_:of:)``).
        var ambiguousCount = 0
        var locks: Set<CloudBucket.Lock> = []
    }

    let bucket: CloudBucket
    let walk: PageWalk
    let cutoff: WallTime

    // MARK: Removal

    /// Deletes every generation that is not newer than the cutoff.
    ///
    /// A page of which something was deleted is asked for again, unless it is the last: it then
    /// begins at the same place, behind entries that all stay, and only a page that stays as a
    /// whole leads to the next.
    ///
    /// - Throws: ``GoogleFailure``; what was deleted until then stays deleted. What was deleted and
    ///   is still listed is an unusable answer.
    func remove(_ template: KeyTemplate, _ own: String) async throws(GoogleFailure) -> Counter {
        var counter = Counter()
        var token: String?
        var removed: Set<Version> = []
        var refused: [Version: CloudBucket.Lock] = [:]
        try await walk.run { () throws(GoogleFailure) in
            let page = try await bucket.page(.generations(prefix: own), from: token)
            guard removed.isDisjoint(with: page.versions) else { throw GoogleFailure(.unusable) }
            let found = page.versions.filter { template.holds($0.name, of: own) }
            let due = found.filter { isDue($0) && $0.lock == nil && refused[$0] == nil }
            removed = []
            let outcomes = await OrderPool.map(due) { await bucket.delete($0) }
            for (version, outcome) in zip(due, outcomes) {
                switch outcome {
                case .gone: removed.insert(version)
                case .locked(let lock): refused[version] = lock
                case .failure(let failure): throw GoogleFailure(failure)
                }
            }
            counter.count += removed.count
            guard removed.isEmpty || page.next == nil else { return true }
            counter.newerCount += found.filter { !isDue($0) }.count
            counter.ambiguousCount += page.versions
                .count { template.isAmbiguous($0.name, of: own) }
            counter.locks.formUnion(
                found.filter(isDue).compactMap { $0.lock ?? refused[$0] }
            )
            refused = [:]
            token = page.next
            return token != nil
        }
        return counter
    }

    // MARK: Counting

    /// Counts for a plan.
    ///
    /// - Throws: ``GoogleFailure``.
    func preview(_ template: KeyTemplate, _ own: String) async throws(GoogleFailure) -> Counter {
        var counter = Counter()
        var token: String?
        try await walk.run { () throws(GoogleFailure) in
            let page = try await bucket.page(.generations(prefix: own), from: token)
            let found = page.versions.filter { template.holds($0.name, of: own) }
            counter.newerCount += found.filter { !isDue($0) }.count
            counter.count += found.filter { isDue($0) && $0.lock == nil }.count
            counter.ambiguousCount += page.versions
                .count { template.isAmbiguous($0.name, of: own) }
            counter.locks.formUnion(found.filter(isDue).compactMap(\.lock))
            token = page.next
            return token != nil
        }
        return counter
    }

    /// Counts what is left, by a listing of generations from the first name to the last instead of
    /// by prefix, and by one of what is there now; what a lock protects is not left but lingers.
    ///
    /// - Throws: ``GoogleFailure``.
    func remaining(
        _ template: KeyTemplate,
        _ own: String
    ) async throws(GoogleFailure) -> Leftover {
        var left: Set<Version> = []
        var isAhead = false
        for range in [CloudBucket.Range.generationsBetween(prefix: own), .live(prefix: own)] {
            var pageCount = 0
            var token: String?
            try await walk.run { () throws(GoogleFailure) in
                let page = try await bucket.page(range, from: token)
                for version in page.versions where template.holds(version.name, of: own) {
                    if isDue(version) && version.lock == nil { left.insert(version) }
                    isAhead = isAhead || version.createdAt > walk.clock.wall()
                }
                pageCount += 1
                token = page.next
                // Names are in order: behind the user's come only others'.
                let last = page.versions.last?.name
                let isBehind = last.map {
                    own.utf8.lexicographicallyPrecedes($0.utf8) && !$0.utf8.starts(with: own.utf8)
                }
                let isEnough = !left.isEmpty && pageCount >= PageWalk.countedPages
                return token != nil && isBehind != true && !isEnough
            }
        }
        return Leftover(count: left.count, isAhead: isAhead)
    }

    private func isDue(_ version: Version) -> Bool { version.createdAt <= cutoff }
}
