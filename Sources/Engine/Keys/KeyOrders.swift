package import Lifecycle

/// The orders of the ids that were found for some orders, and how their answers become one each.
struct KeyOrders {
    struct Purged {
        var counts = PurgeCounts()
        /// Empty unless rows were left under a hold.
        var holds: Set<String> = []
        var isStopped = false
        var isHalted = false
        /// What decides the answer; the counts are those of the other ids then.
        var failure: EffectFailure?

        func answer(_ counts: PurgeCounts) -> PurgeAnswer {
            if let failure { return .failure(failure) }
            if isHalted { return .halted(counts) }
            if isStopped { return .stopped }
            return holds.isEmpty ? .done(counts) : .held(counts, under: holds)
        }
    }

    /// ``Lifecycle/PlanItem/reason`` of what stays because it is shared.
    static let sharedReason = "still has other owners"

    private struct Entry {
        var places: [Int] = []
        var keptCount = 0
        var failure: EffectFailure?

        var isEmpty: Bool { places.isEmpty && keptCount == 0 && failure == nil }
    }

    private struct Meaning: Hashable {
        let user: UserID
        let cutoff: WallTime
    }

    /// One for each id; an id that two requests share and nobody else owns is in it once.
    private(set) var unique: [PurgeOrder] = []
    private let requests: [RequestID]
    private var entries: [Entry] = []
    private var firstOwners: [Int] = []
    private let name: KeyName
    private let isShared: Bool

    /// `found` is `nil` where nobody has looked; `named` are shared ids that other rows name.
    init(
        _ orders: [PurgeOrder],
        _ found: [KeysAnswer?],
        _ named: OwnersAnswer,
        origin: KeyedStore.Origin,
        partitionKey: (UserID) -> String
    ) {
        name = origin.name
        isShared = origin.isShared
        requests = orders.map(\.request)
        var places: [Meaning: Int] = [:]
        for (index, (order, answer)) in zip(orders, found).enumerated() {
            var entry = Entry()
            switch (answer, named) {
            case (.failure(let failure), _): entry.failure = failure
            case (.found(let ids), .failure(let failure)):
                entry.failure = ids.isEmpty ? nil : failure
            case (.found(let ids), .named(let owned)):
                for id in ids {
                    guard !owned.contains(id) else {
                        entry.keptCount += 1
                        continue
                    }
                    var part = part(of: order, id)
                    part.partitionKey = partitionKey(id)
                    let meaning = Meaning(user: id, cutoff: part.cutoff)
                    if places[meaning] == nil {
                        places[meaning] = unique.count
                        firstOwners.append(index)
                        unique.append(part)
                    }
                    entry.places.append(places[meaning] ?? 0)
                }
            case (nil, _): break
            }
            entries.append(entry)
        }
    }

    /// What nobody owns is of no later life: all of it goes, however new.
    private func part(of order: PurgeOrder, _ id: UserID) -> PurgeOrder {
        var part = PurgeOrder(
            request: order.request,
            user: id,
            cutoff: isShared ? .distantFuture : order.cutoff,
            holds: order.holds,
            gate: order.gate
        )
        part.attempt = order.attempt
        part.datesUpTo = order.datesUpTo
        return part
    }

    /// The ids that each order of the caller has to purge; orders without any are missing.
    var ids: [(request: RequestID, ids: [UserID])] {
        zip(requests, entries).compactMap { request, entry in
            entry.places.isEmpty ? nil : (request, entry.places.map { unique[$0].user })
        }
    }

    var batches: [[PurgeOrder]] {
        stride(from: 0, to: unique.count, by: Limits.purgeBatchMax).map { start in
            Array(unique[start..<min(start + Limits.purgeBatchMax, unique.count)])
        }
    }

    var keptItems: [PlanItem] {
        let count = entries.reduce(0) { $0 + $1.keptCount }
        guard count > 0 else { return [] }
        return [
            PlanItem(name: name.description, action: .keep, reason: Self.sharedReason, count: count)
        ]
    }

    func purge(in store: any PurgeStore) async -> [Purged] {
        var answers: [PurgeAnswer] = []
        for batch in batches { answers += await store.purge(batch) }
        return merged(answers)
    }

    func verify(in store: any PurgeStore) async -> [VerifyAnswer] {
        var answers: [VerifyAnswer] = []
        for batch in batches { answers += await store.verify(batch) }
        return merged(answers)
    }

    private func merged(_ answers: [PurgeAnswer]) -> [Purged] {
        entries.enumerated().map { index, entry in
            var merged = Purged(failure: entry.failure)
            for place in entry.places {
                let isCounted = firstOwners[place] == index
                switch answers[place] {
                case .done(let counts):
                    if isCounted { merged.counts.gather(counts) }
                case .held(let counts, let names):
                    if isCounted { merged.counts.gather(counts) }
                    merged.holds.formUnion(names)
                case .halted(let counts):
                    if isCounted { merged.counts.gather(counts) }
                    merged.isHalted = true
                case .stopped:
                    merged.isStopped = true
                case .failure(let failure):
                    merged.failure = failure.worse(than: merged.failure)
                }
            }
            if entry.isEmpty {
                merged.counts.entries.append(
                    .init(name: name.description, action: .notLookedFor, rowCount: 0)
                )
            } else if isShared, entry.failure == nil {
                merged.counts.entries.append(
                    .init(name: name.description, action: .shared, rowCount: entry.keptCount)
                )
            }
            return merged
        }
    }

    private func merged(_ answers: [VerifyAnswer]) -> [VerifyAnswer] {
        entries.map { entry in
            guard !entry.isEmpty else { return .notLookedFor }
            var failure = entry.failure
            var remaining = 0
            var isUnknown = false
            for place in entry.places {
                switch answers[place] {
                case .clean: break
                case .remaining(let count): remaining += count
                case .notLookedFor: isUnknown = true
                case .failure(let other): failure = other.worse(than: failure)
                }
            }
            if let failure { return .failure(failure) }
            guard remaining == 0 else { return .remaining(remaining) }
            return isUnknown ? .notLookedFor : .clean
        }
    }

    func merged(_ failures: [EffectFailure?]) -> [EffectFailure?] {
        entries.map { entry in
            entry.places.reduce(entry.failure) { worst, place in
                failures[place].map { $0.worse(than: worst) } ?? worst
            }
        }
    }
}

extension KeyedStore.Origin {
    var unknownItem: PlanItem {
        let outcome =
            switch withoutKeys {
            case .proceed: "this store would not be searched"
            case .park: "the request would park as \(ParkReason.withoutKeys.rawValue)"
            }
        return PlanItem(
            name: name.description,
            action: .keep,
            reason: "no key was found: \(outcome)",
            count: 0
        )
    }
}

extension PurgeCounts {
    /// Adds the counts of another id, all of them: none was counted before.
    fileprivate mutating func gather(_ other: PurgeCounts) {
        for entry in other.entries {
            let index = entries.firstIndex { $0.name == entry.name && $0.action == entry.action }
            guard let index else {
                entries.append(entry)
                continue
            }
            entries[index].rowCount += entry.rowCount
            entries[index].newerCount += entry.newerCount
        }
        for copy in other.residualCopies { note(copy) }
    }
}

extension EffectFailure {
    /// What an operator has to mend comes before what passes by itself.
    fileprivate func worse(than other: EffectFailure?) -> EffectFailure {
        guard let other, self != .misconfigured else { return self }
        return other
    }
}

/// Hashes of ids that one store names and another knows the user by.
extension KeyedHasher {
    /// Bound to the name: equal ids of two stores are never taken for each other; 32 bytes.
    package func tombstone(of id: UserID, as name: KeyName) -> [UInt8] {
        // No name has a zero byte.
        hash("\(name)\0\(id.exposeText())", domain: .erasedKey)
    }

    /// Tells the orders of one request apart; eight bytes are enough for ten thousand ids.
    func partitionKey(of id: UserID) -> String {
        hash(id.exposeText(), domain: .foundKey).prefix(8).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }
}
