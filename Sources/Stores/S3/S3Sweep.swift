import Lifecycle

/// Goes through what a bucket has of one user: removes it, or counts what is left.
struct S3Sweep {
    /// What was found by one template.
    struct Counter: Sendable {
        var versionCount = 0
        var uploadCount = 0
        /// Newer than the cutoff.
        var newerCount = 0
        /// Left alone, since they may be another user's (``KeyTemplate/isAmbiguous(_:of:)``).
        var ambiguousCount = 0
        var locks: Set<S3Bucket.Lock> = []
    }

    /// The longest rest between two pages.
    static let restMax = Duration.seconds(1)
    /// Pages of a verification that has found something, a hundred thousand versions.
    static let countedPages = 100
    /// Pages of one walk, ten billion versions; a listing that goes on is broken.
    static let pagesMax = 10_000_000

    let bucket: S3Bucket
    let clock: TargetClock
    let cutoff: WallTime

    // MARK: Removal

    /// Deletes every version, delete marker and unfinished upload that is not newer than the
    /// cutoff.
    ///
    /// - Throws: ``S3Error``; what was deleted until then stays deleted. What was deleted and is
    ///   still listed is an unusable answer.
    func remove(_ template: KeyTemplate, _ own: String) async throws(S3Error) -> Counter {
        var counter = Counter()
        var removed: Set<S3Bucket.Version> = []
        try await pages { place throws(S3Error) in
            let page = try await bucket.versions(own, from: place)
            guard removed.isDisjoint(with: page.entries) else {
                throw S3Error(.unusable, target: bucket.target)
            }
            let (due, newer) = split(page.entries, template, own)
            counter.newerCount += newer
            counter.ambiguousCount += page.entries
                .count { template.isAmbiguous($0.key, of: own) }
            guard !due.isEmpty else { return page.next }
            let refused = try await bucket.delete(due)
            for version in refused {
                guard let lock = try await bucket.lock(of: version, at: clock.wall()) else {
                    throw S3Error(.refused, target: bucket.target)
                }
                counter.locks.insert(lock)
            }
            removed = Set(due).subtracting(refused)
            counter.versionCount += removed.count
            return page.next(behindLastOf: page.entries.filter { !removed.contains($0) }, place)
        }
        var aborted: Set<S3Bucket.Upload> = []
        try await pages { place throws(S3Error) in
            let page = try await bucket.uploads(own, from: place)
            guard aborted.isDisjoint(with: page.entries) else {
                throw S3Error(.unusable, target: bucket.target)
            }
            let found = page.entries.filter { template.holds($0.key, of: own) }
            aborted = Set(found.filter { $0.begunAt <= cutoff })
            for upload in aborted { try await bucket.abort(upload) }
            counter.newerCount += found.count - aborted.count
            counter.uploadCount += aborted.count
            return page.next(behindLastOf: page.entries.filter { !aborted.contains($0) }, place)
        }
        return counter
    }

    // MARK: Counting

    /// Counts for a plan.
    ///
    /// - Throws: ``S3Error``.
    func preview(_ template: KeyTemplate, _ own: String) async throws(S3Error) -> Counter {
        var counter = Counter()
        try await pages { place throws(S3Error) in
            let page = try await bucket.versions(own, from: place)
            let (due, newer) = split(page.entries, template, own)
            counter.versionCount += due.count
            counter.newerCount += newer
            counter.ambiguousCount += page.entries
                .count { template.isAmbiguous($0.key, of: own) }
            return page.next
        }
        try await pages { place throws(S3Error) in
            let page = try await bucket.uploads(own, from: place)
            counter.uploadCount += page.entries.filter { isDue($0, template, own) }.count
            return page.next
        }
        return counter
    }

    /// Counts what is left, by a wider listing of versions, by the listing of objects, and by that
    /// of uploads; what a lock protects is not left but lingers.
    ///
    /// - Throws: ``S3Error``.
    func remaining(_ template: KeyTemplate, _ own: String) async throws(S3Error) -> Leftover {
        var left = 0
        var isAhead = false
        var lockedKeys: Set<[UInt8]> = []
        var pageCount = 0
        let wider = String(own.dropLast())
        try await pages { place throws(S3Error) in
            let page = try await bucket.versions(wider, from: place)
            isAhead = isAhead || hasFuture(page.entries, template, own)
            for version in split(page.entries, template, own).due {
                if try await bucket.lock(of: version, at: clock.wall()) == nil {
                    left += 1
                } else {
                    lockedKeys.insert(Array(version.key.utf8))
                }
            }
            pageCount += 1
            // Keys come in the order of their bytes: behind the user's are only others'.
            let isBehind = page.entries.contains {
                own.utf8.lexicographicallyPrecedes($0.key.utf8)
                    && !$0.key.utf8.starts(with: own.utf8)
            }
            let isEnough = left > 0 && pageCount >= Self.countedPages
            return isBehind || isEnough ? nil : page.next
        }
        try await pages { place throws(S3Error) in
            guard left == 0 else { return nil }
            let page = try await bucket.objects(own, from: place)
            left +=
                split(page.entries, template, own).due
                .filter { !lockedKeys.contains(Array($0.key.utf8)) }.count
            return page.next
        }
        try await pages { place throws(S3Error) in
            let page = try await bucket.uploads(own, from: place)
            left += page.entries.filter { isDue($0, template, own) }.count
            return left > 0 ? nil : page.next
        }
        return Leftover(count: left, isAhead: isAhead)
    }

    private func hasFuture(
        _ versions: [S3Bucket.Version],
        _ template: KeyTemplate,
        _ own: String
    ) -> Bool {
        let now = clock.wall()
        return versions.contains { $0.modifiedAt > now && template.holds($0.key, of: own) }
    }

    // MARK: Pages

    private func split(
        _ versions: [S3Bucket.Version],
        _ template: KeyTemplate,
        _ own: String
    ) -> (due: [S3Bucket.Version], newerCount: Int) {
        let found = versions.filter { template.holds($0.key, of: own) }
        let due = found.filter { $0.modifiedAt <= cutoff }
        return (due, found.count - due.count)
    }

    private func isDue(_ upload: S3Bucket.Upload, _ template: KeyTemplate, _ own: String) -> Bool {
        template.holds(upload.key, of: own) && upload.begunAt <= cutoff
    }

    /// Works on one page after another, resting as long as each took, at most a second.
    func pages(
        _ work: (S3Bucket.Query) async throws(S3Error) -> S3Bucket.Query?
    ) async throws(S3Error) {
        var place: S3Bucket.Query = []
        for _ in 0..<Self.pagesMax {
            let start = clock.uptime()
            guard let next = try await work(place) else { return }
            place = next
            do {
                try await clock.rest(min(clock.uptime() - start, Self.restMax))
            } catch {
                throw S3Error(.lost, target: bucket.target)
            }
        }
        throw S3Error(.unusable, target: bucket.target)
    }
}
