import Engine
import Lifecycle
import Synchronization

/// Goes through what a database has of one user: removes it, or counts what is left.
struct FirestoreSweep: UserSweep {
    typealias Document = FirestoreDatabase.Document

    enum Place: CustomStringConvertible {
        case document(UserPath, [String])
        case query(FieldQuery)

        var description: String {
            switch self {
            case .document(let path, _): path.description
            case .query(let query): query.description
            }
        }
    }

    /// Times that a failed write, or a page of documents that others keep changing, is tried again:
    /// six seconds in all.
    static let retriesMax = 6

    let places: [Place]
    let store: FirestoreStore
    let order: PurgeOrder

    private var database: FirestoreDatabase { store.database }
    private var walk: PageWalk { store.walk }

    // MARK: Removal

    func remove(_ place: Place) async throws(CallFailure) -> PurgeCounts {
        var counter = SweepCounter()
        switch place {
        case .document(_, let path):
            try await removeDescendants(of: path, &counter)
            try await removePages(&counter) { after throws(CallFailure) in
                // One that is newer stays, and is not asked for again.
                guard after == nil, let found = try await database.document(at: path) else {
                    return []
                }
                return [found]
            }
        case .query(let query):
            // Once a document is gone, nothing leads to what it had below.
            var below = SweepCounter()
            try await removePages(&counter) { after throws(CallFailure) in
                let page = try await database.matches(query, order.user, by: .equal, after: after)
                for document in page where store.includesSubcollections && isDue(document) {
                    try await removeDescendants(of: document.path, &below)
                }
                return page
            }
            counter.count += below.count
            counter.newerCount += below.newerCount
        }
        return PurgeCounts(entries: [counter.entry("\(place)")])
    }

    private func removeDescendants(
        of path: [String],
        _ counter: inout SweepCounter
    ) async throws(CallFailure) {
        try await removePages(&counter) { after throws(CallFailure) in
            try await database.descendants(of: path, after: after)
        }
    }

    /// Deletes page after page; the next one begins behind the last document that stays.
    private func removePages(
        _ counter: inout SweepCounter,
        _ list: (String?) async throws(CallFailure) -> [Document]
    ) async throws(CallFailure) {
        var after: String?
        var removed: Set<Document> = []
        var stallCount = 0
        try await walk.run { () throws(CallFailure) in
            let page = try await list(after)
            guard !page.isEmpty else { return false }
            guard removed.isDisjoint(with: page) else { throw CallFailure(.unusable) }
            let due = page.filter(isDue)
            removed = try await delete(due)
            counter.count += removed.count
            for document in page where !removed.contains(document) {
                // Changed since it was listed: it and what follows is looked at again.
                if isDue(document) { break }
                after = document.name
                counter.newerCount += 1
            }
            stallCount = removed.isEmpty && !due.isEmpty ? stallCount + 1 : 0
            guard stallCount <= Self.retriesMax else {
                throw CallFailure(.throttled(retryAfter: nil))
            }
            return true
        }
    }

    /// - Returns: Those that are gone; the others have changed in the meantime.
    private func delete(_ documents: [Document]) async throws(CallFailure) -> Set<Document> {
        var gone: Set<Document> = []
        var rest = documents[...]
        while !rest.isEmpty {
            var open = Array(rest.prefix(store.batchSize))
            rest = rest.dropFirst(store.batchSize)
            var tries = 0
            while !open.isEmpty {
                guard tries <= Self.retriesMax else {
                    throw CallFailure(.throttled(retryAfter: nil))
                }
                if tries > 0 {
                    try await walk.rest(RetryPolicy.changedDocument.delay(failures: tries))
                }
                tries += 1
                try await walk.rest(store.ramp.reserve(open.count, at: walk.clock.uptime()))
                let outcomes = try await database.delete(open)
                let results = zip(open, outcomes)
                gone.formUnion(results.filter { $0.1 == .gone }.map(\.0))
                open = results.filter { $0.1 == .failed }.map(\.0)
            }
        }
        return gone
    }

    // MARK: Counting

    func preview(_ place: Place) async throws(CallFailure) -> [PlanItem] {
        var counter = SweepCounter()
        switch place {
        case .document(_, let path):
            if let document = try await database.document(at: path) { note(document, &counter) }
            try await countDescendants(of: path, &counter)
        case .query(let query):
            var below = SweepCounter()
            try await countPages(&counter) { after throws(CallFailure) in
                let page = try await database.matches(query, order.user, by: .equal, after: after)
                for document in page where store.includesSubcollections && isDue(document) {
                    try await countDescendants(of: document.path, &below)
                }
                return page
            }
            counter.count += below.count
            counter.newerCount += below.newerCount
        }
        return [PlanItem(deletion: counter.entry("\(place)"))]
    }

    private func countDescendants(
        of path: [String],
        _ counter: inout SweepCounter
    ) async throws(CallFailure) {
        try await countPages(&counter) { after throws(CallFailure) in
            try await database.descendants(of: path, after: after)
        }
    }

    /// Notes page after page; `isBounded` ends at a bound once something due is found.
    private func countPages(
        _ counter: inout SweepCounter,
        isBounded: Bool = false,
        _ list: (String?) async throws(CallFailure) -> [Document]
    ) async throws(CallFailure) {
        var after: String?
        var pageCount = 0
        try await walk.run { () throws(CallFailure) in
            let page = try await list(after)
            for document in page { note(document, &counter) }
            after = page.last?.name
            pageCount += 1
            guard !page.isEmpty else { return false }
            counter.isCut = isBounded && pageCount >= PageWalk.countedPages && counter.count > 0
            return !counter.isCut
        }
    }

    // MARK: Verification

    func remaining(_ place: Place) async throws(CallFailure) -> Leftover {
        switch place {
        case .document(_, let path): try await remaining(path)
        case .query(let query): try await remaining(query)
        }
    }

    /// Goes down the listings of collections and documents, those that are not there included; the
    /// purge asked by a query.
    private func remaining(_ path: [String]) async throws(CallFailure) -> Leftover {
        enum Step {
            case document([String])
            case collection([String], from: String?)
        }
        var counter = SweepCounter()
        if let document = try await database.document(at: path) { note(document, &counter) }
        var steps = [Step.document(path)]
        var pageCount = 0
        try await walk.run { () throws(CallFailure) in
            guard let step = steps.popLast() else { return false }
            switch step {
            case .document(let path):
                for name in try await database.collections(of: path) {
                    steps.append(.collection(path + [name], from: nil))
                }
            case .collection(let path, let token):
                let page = try await database.documents(in: path, from: token)
                if let next = page.next { steps.append(.collection(path, from: next)) }
                for document in page.documents {
                    note(document, &counter)
                    steps.append(.document(document.path))
                }
            }
            pageCount += 1
            return counter.count == 0 || pageCount < PageWalk.countedPages
        }
        return Leftover(count: counter.count, isAhead: counter.isAhead)
    }

    /// Asks by another operator, and for the server's own count.
    private func remaining(_ query: FieldQuery) async throws(CallFailure) -> Leftover {
        let total = try await database.count(query, order.user)
        var counter = SweepCounter()
        try await countPages(&counter, isBounded: true) { after throws(CallFailure) in
            try await database.matches(query, order.user, by: .within, after: after)
        }
        // Listed by the count and by no page: left. A listing that was cut says nothing of them.
        let unlisted = counter.isCut ? 0 : total - counter.count - counter.newerCount
        return Leftover(count: counter.count + max(unlisted, 0), isAhead: counter.isAhead)
    }

    private func isDue(_ document: Document) -> Bool {
        document.createdAt.map { $0 <= order.cutoff } ?? false
    }

    private func note(_ document: Document, _ counter: inout SweepCounter) {
        guard document.createdAt != nil else { return }
        if isDue(document) { counter.count += 1 } else { counter.newerCount += 1 }
        if let time = document.createdAt, time > walk.clock.wall() { counter.isAhead = true }
    }
}

/// How many documents a second may be deleted: 500, and half as many again every five minutes
/// (firebase.google.com/docs/firestore/best-practices, "Ramping up traffic").
final class WriteRamp: Sendable {
    /// Documents a second at the start.
    static let rateStart = 500.0
    /// What Google's own bulk writer stops at (googleapis/nodejs-firestore, `rate-limiter.ts`).
    static let rateMax = 10_000.0
    static let growth = 1.5
    static let step = Duration.seconds(300)

    private struct State {
        var begunAt: Duration?
        /// When the next write is due.
        var next = Duration.zero
    }

    private let state = Mutex(State())

    /// Takes the time of some writes.
    ///
    /// - Parameters:
    ///   - count: Writes.
    ///   - now: Monotonic.
    /// - Returns: How long to wait before they are made.
    func reserve(_ count: Int, at now: Duration) -> Duration {
        state.withLock { state in
            // After a pause of one step the traffic begins anew.
            if state.begunAt == nil || now > state.next + Self.step { state.begunAt = now }
            let elapsed = now - (state.begunAt ?? now)
            let start = max(state.next, now)
            let seconds = Double(count) / Self.rate(after: elapsed)
            state.next = start + .nanoseconds(Int64(seconds * 1_000_000_000))
            return start - now
        }
    }

    static func rate(after elapsed: Duration) -> Double {
        var rate = rateStart
        var rest = elapsed
        while rest >= step && rate < rateMax {
            rate *= growth
            rest -= step
        }
        return min(rate, rateMax)
    }
}
