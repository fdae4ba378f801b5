import Lifecycle

/// Goes through what a bucket has of one user: removes it, or counts what is left.
struct ObjectSweep<Bucket: ObjectBucket>: UserSweep {
    /// A template, and the user's key or prefix.
    struct Place: CustomStringConvertible {
        let template: KeyTemplate
        let own: String

        var description: String { template.description }

        func holds(_ version: ObjectVersion) -> Bool { template.holds(version.key, of: own) }
    }

    /// What was found in one listing.
    private struct Counter {
        var count = 0
        /// Newer than the cutoff.
        var newerCount = 0
        /// Left alone, since they may be another user's (``KeyTemplate/isAmbiguous(_:of:)``).
        var ambiguousCount = 0
        var locks: Set<PurgeCounts.ResidualCopies> = []
    }

    let bucket: Bucket
    let places: [Place]
    let walk: PageWalk
    let cutoff: WallTime

    func remove(_ place: Place) async throws(CallFailure) -> PurgeCounts {
        var counters: [Counter] = []
        for listing in bucket.removals { counters.append(try await remove(listing, place)) }
        var counts = PurgeCounts(entries: entries(place.template, counters))
        for lock in counters.flatMap(\.locks) { counts.note(lock) }
        return counts
    }

    /// Goes on behind the last entry that stays.
    ///
    /// Markers of removed versions make some servers skip all that follows. Where only pages have
    /// markers, a page is asked for until all of it stays.
    private func remove(
        _ listing: Bucket.Listing,
        _ place: Place
    ) async throws(CallFailure) -> Counter {
        var counter = Counter()
        var removed: Set<ObjectVersion> = []
        var locked: [ObjectVersion: PurgeCounts.ResidualCopies] = [:]
        var position: Bucket.Position?
        try await walk.run { () throws(CallFailure) in
            let page = try await bucket.page(listing, of: place.own, from: position)
            // What was deleted is still listed.
            guard removed.isDisjoint(with: page.versions) else { throw CallFailure(.unusable) }
            let due = page.versions.filter {
                place.holds($0) && isDue($0) && $0.lock == nil && locked[$0] == nil
            }
            let refused = try await due.isEmpty ? [:] : bucket.delete(due, listing)
            locked.merge(refused) { $1 }
            removed = Set(due).subtracting(refused.keys)
            counter.count += removed.count
            let staying = page.versions.filter { !removed.contains($0) }
            if removed.isEmpty || page.next == nil {
                position = page.next
            } else if let last = staying.last, let next = bucket.position(behind: last, listing) {
                position = next
            } else {
                return true
            }
            note(staying, locked, place, &counter)
            locked = [:]
            return position != nil
        }
        return counter
    }

    func preview(_ place: Place) async throws(CallFailure) -> [PlanItem] {
        var counters: [Counter] = []
        for listing in bucket.removals {
            var counter = Counter()
            try await walk.pages { position throws(CallFailure) in
                let page = try await bucket.page(listing, of: place.own, from: position)
                note(page.versions, [:], place, &counter)
                counter.count += page.versions
                    .count { place.holds($0) && isDue($0) && $0.lock == nil }
                return page.next
            }
            counters.append(counter)
        }
        return entries(place.template, counters).map { PlanItem(deletion: $0) }
    }

    /// Asks other listings than a removal; what a lock protects is not left, but a residual copy.
    func remaining(_ place: Place) async throws(CallFailure) -> Leftover {
        var left: Set<ObjectVersion> = []
        var isAhead = false
        // By bytes; two keys may be one text.
        var known: Set<[UInt8]> = []
        for listing in bucket.recounts {
            var pageCount = 0
            try await walk.pages { position throws(CallFailure) in
                let page = try await bucket.page(listing, of: place.own, from: position)
                for version in page.versions where place.holds(version) {
                    isAhead = isAhead || version.date > walk.clock.wall()
                    let key = Array(version.key.utf8)
                    guard isDue(version), !(version.id.isEmpty && known.contains(key)) else {
                        continue
                    }
                    known.insert(key)
                    guard try await bucket.lock(of: version, listing) == nil else { continue }
                    left.insert(version)
                }
                pageCount += 1
                let isEnough = !left.isEmpty && pageCount >= PageWalk.countedPages
                return isEnough || isBehind(page, place.own) ? nil : page.next
            }
        }
        return Leftover(count: left.count, isAhead: isAhead)
    }

    /// Keys come in the order of their bytes: behind the user's are only others'.
    private func isBehind(_ page: ObjectPage<Bucket.Position>, _ own: String) -> Bool {
        page.versions.contains {
            own.utf8.lexicographicallyPrecedes($0.key.utf8) && !$0.key.utf8.starts(with: own.utf8)
        }
    }

    private func isDue(_ version: ObjectVersion) -> Bool { version.date <= cutoff }

    /// Counts what stays.
    private func note(
        _ versions: [ObjectVersion],
        _ locked: [ObjectVersion: PurgeCounts.ResidualCopies],
        _ place: Place,
        _ counter: inout Counter
    ) {
        for version in versions {
            if !place.holds(version) {
                let isAmbiguous = place.template.isAmbiguous(version.key, of: place.own)
                counter.ambiguousCount += isAmbiguous ? 1 : 0
            } else if !isDue(version) {
                counter.newerCount += 1
            } else if let lock = version.lock ?? locked[version] {
                counter.locks.insert(lock)
            }
        }
    }

    private func entries(_ template: KeyTemplate, _ counters: [Counter]) -> [PurgeCounts.Entry] {
        var entries = zip(bucket.removals, counters).map { listing, counter in
            let name = bucket.name(of: listing, template)
            return PurgeCounts.Entry(name: name, action: .rule(.delete), rowCount: counter.count)
        }
        entries[0].newerCount = counters.reduce(0) { $0 + $1.newerCount }
        return entries + [template.ambiguousEntry(counters[0].ambiguousCount)].compactMap(\.self)
    }
}
