package import Lifecycle
import Synchronization

/// A store that knows a user by ids of its own, which are found in the rows of another store.
///
/// An order becomes one for each id, and their answers become one again: done only when all are
/// done, clean only when all are clean. The ids come from where the other one kept them before it
/// purged anything, so that neither the order of the stores nor a crash loses one.
///
/// A shared id is used only once no row names it any more. That is asked after the user's own rows
/// are gone (``Lifecycle/Environment/keySources``), so of several owners the one whose rows go
/// last always sees it: whoever asks after that finds no row, and has the id stored. Only the
/// ids that fell to a request are its own to verify.
package final class KeyedStore: StoreWrapper {
    /// Where the ids come from.
    package struct Origin: Sendable {
        package let name: KeyName
        /// An id belongs to all whose rows name it.
        package let isShared: Bool
        package let source: SourceStore
        /// The same store where its own ids are found elsewhere.
        package let upstream: KeyedStore?
        /// What a deletion does when no id leads into the store.
        package let withoutKeys: WithoutKeys

        package init(
            name: KeyName,
            isShared: Bool,
            source: SourceStore,
            upstream: KeyedStore? = nil,
            withoutKeys: WithoutKeys = .proceed
        ) {
            (self.name, self.isShared, self.source) = (name, isShared, source)
            (self.upstream, self.withoutKeys) = (upstream, withoutKeys)
        }

        var replaying: Origin {
            Origin(
                name: name,
                isShared: isShared,
                source: source,
                upstream: upstream?.replaying(),
                withoutKeys: withoutKeys
            )
        }
    }

    package let inner: any PurgeStore
    let origin: Origin
    private let foundKeys: any FoundKeyStore
    private let hasher: any KeyedHasher
    /// What was done for a request before some other id of it met a failure or was stopped.
    private let carried = Mutex<[RequestID: PurgeCounts]>([:])

    package init(
        _ inner: any PurgeStore,
        origin: Origin,
        foundKeys: any FoundKeyStore,
        hasher: any KeyedHasher
    ) {
        (self.inner, self.origin, self.foundKeys, self.hasher) = (inner, origin, foundKeys, hasher)
    }

    package func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        let spread = await spread(orders, of: await ids(of: orders))
        if let failure = await take(spread) { return orders.map { _ in .failure(failure) } }
        return zip(orders, await spread.purge(in: inner)).map { order, answer in
            settle(answer, of: order.request)
        }
    }

    package func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer] {
        let spread = await spread(orders, of: await stored(orders, as: erasedName))
        let merged = await spread.verify(in: inner)
        guard origin.isShared, merged.contains(.notLookedFor) else { return merged }
        // What still has other owners was found, and is not this order's to purge.
        let found = await stored(orders, as: origin.name)
        return zip(merged, found).map { answer, found in
            answer == .notLookedFor && found?.ids.isEmpty == false ? .clean : answer
        }
    }

    /// Stores nothing; a shared id counts when only this user is left.
    package func plan(_ order: PurgeOrder) async -> PlanAnswer {
        let spread: KeyOrders
        do {
            spread = try await planned(order)
        } catch {
            return .failure(error)
        }
        var items = PlannedItems(isShared: origin.isShared)
        for order in spread.unique {
            switch await inner.plan(order) {
            case .items(let found): items.add(found)
            case .unknown: return .unknown
            case .failure(let failure): return .failure(failure)
            }
        }
        let kept = spread.keptItems
        let isUnknown = spread.unique.isEmpty && kept.isEmpty
        return .items(isUnknown ? [origin.unknownItem] : items.all + kept)
    }

    /// For erasing again: an order's user is one of the store's own ids; not to be shut down.
    package func byKey(in copy: (any PurgeStore)? = nil) -> KeyReplayStore {
        KeyReplayStore(inner: copy ?? inner, origin: origin, erased: erasedName, hasher: hasher)
    }

    /// For a replay: purges what rows of the source name now, and nothing found before.
    package func replaying() -> KeyedStore {
        KeyedStore(inner, origin: origin.replaying, foundKeys: foundKeys.late, hasher: hasher)
    }
}

// MARK: - Ids

extension KeyedStore {
    private func spread(_ orders: [PurgeOrder], of found: [KeysAnswer?]) async -> KeyOrders {
        let named = await named(found.flatMap { $0?.ids ?? [] })
        return self.orders(orders, found, named)
    }

    private func orders(
        _ orders: [PurgeOrder],
        _ found: [KeysAnswer?],
        _ named: OwnersAnswer
    ) -> KeyOrders {
        KeyOrders(
            orders,
            found,
            named,
            origin: origin,
            partitionKey: hasher.partitionKey(of:)
        )
    }

    private func ids(of orders: [PurgeOrder]) async -> [KeysAnswer?] {
        var found = await stored(orders, as: origin.name)
        let missing = orders.indices.filter { found[$0] == nil || found[$0] == .found([]) }
        guard !missing.isEmpty else { return found }
        // Where the source is no part of the request nothing was looked up for it yet; where no key
        // was found, the application may have put its row back since.
        let failures = await lookUp(missing.map { orders[$0] })
        let again = await stored(missing.map { orders[$0] }, as: origin.name)
        for (index, (failure, answer)) in zip(missing, zip(failures, again)) {
            found[index] = failure.map { .failure($0) } ?? answer
        }
        return found
    }

    /// - Returns: `nil` for an order for which nobody has looked.
    private func stored(_ orders: [PurgeOrder], as name: KeyName) async -> [KeysAnswer?] {
        guard !orders.isEmpty else { return [] }
        let known = await foundKeys.keys(of: orders.map(\.request), as: name)
        return orders.map { known[$0.request] }
    }

    /// Under what the shared ids are stored that fell to a request; no key has such a name.
    private var takenName: KeyName { KeyName(store: name, key: "of \(origin.name)") }

    /// Under what those ids are stored that are a request's own to erase.
    package var erasedName: KeyName { origin.isShared ? takenName : origin.name }

    /// Before the purge: what others still own would be taken for data that came back.
    private func take(_ spread: KeyOrders) async -> EffectFailure? {
        guard origin.isShared else { return nil }
        let taken = spread.ids.map { FoundKeys(request: $0, name: takenName, ids: $1) }
        return taken.isEmpty ? nil : await foundKeys.add(taken)
    }

    private func lookUp(_ orders: [PurgeOrder]) async -> [EffectFailure?] {
        guard let upstream = origin.upstream else { return await origin.source.find(orders) }
        let spread = await upstream.spread(orders, of: await upstream.ids(of: orders))
        var failures: [EffectFailure?] = []
        for batch in spread.batches { failures += await origin.source.find(batch) }
        return spread.merged(failures)
    }

    private func named(
        _ ids: [UserID],
        besides orders: [PurgeOrder] = []
    ) async -> OwnersAnswer {
        guard origin.isShared else { return .named([]) }
        return await origin.source.named(
            Array(Set(ids)),
            as: origin.name.key,
            besides: orders
        )
    }

    private func planned(_ order: PurgeOrder) async throws(EffectFailure) -> KeyOrders {
        let owners = try await origin.upstream?.planned(order).unique ?? [order]
        // Those of rows that the source's purge has taken away by now are stored.
        let known = await stored([order], as: origin.name).first ?? nil
        if case .failure(let failure) = known { throw failure }
        var ids = Set(known?.ids ?? [])
        for answer in await origin.source.peek(origin.name.key, of: owners) {
            switch answer {
            case .found(let found): ids.formUnion(found)
            case .failure(let failure): throw failure
            }
        }
        // In one order for each look, or an unchanged store would have another plan.
        let all = ids.sorted { $0.exposeText() < $1.exposeText() }
        let named = await named(all, besides: owners)
        if case .failure(let failure) = named { throw failure }
        return orders([order], [.found(all)], named)
    }
}

// MARK: - Counts

extension KeyedStore {
    /// Keeps what was done beside a failure or a stop for the try that ends it.
    private func settle(_ merged: KeyOrders.Purged, of request: RequestID) -> PurgeAnswer {
        var counts = carried.withLock { $0.removeValue(forKey: request) } ?? PurgeCounts()
        counts.add(merged.counts)
        let isTold = merged.failure == nil && (merged.isHalted || !merged.isStopped)
        if !isTold, !counts.entries.isEmpty {
            carried.withLock { carried in
                // A receipt that counts too few is the least harm.
                if carried.count >= Limits.windowMax { carried.removeAll() }
                carried[request] = counts
            }
        }
        return merged.answer(counts)
    }
}

extension KeysAnswer {
    var ids: [UserID] {
        if case .found(let ids) = self { ids } else { [] }
    }
}

/// The plans of several ids, added up by what is done where.
struct PlannedItems {
    /// What nobody owns any more goes whole, so that a missing time is no matter.
    let isShared: Bool
    private(set) var all: [PlanItem] = []

    mutating func add(_ items: [PlanItem]) {
        for item in items {
            let index = all.firstIndex {
                $0.name == item.name && $0.action == item.action && $0.reason == item.reason
            }
            let before = index.map { all[$0] }
            let sum = PlanItem(
                name: item.name,
                action: item.action,
                reason: item.reason,
                count: item.count + (before?.count ?? 0),
                isBounded: item.isBounded || before?.isBounded ?? false,
                newerCount: item.newerCount + (before?.newerCount ?? 0),
                undatedCount: isShared ? 0 : item.undatedCount + (before?.undatedCount ?? 0),
                hasNoTimestamps: !isShared && item.hasNoTimestamps
            )
            if let index { all[index] = sum } else { all.append(sum) }
        }
    }
}
