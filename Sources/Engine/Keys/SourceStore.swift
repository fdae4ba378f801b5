package import Lifecycle

/// A store with ids for other stores: before anything of a user goes, they are found and kept.
///
/// ```
/// purge ──▶ find ids ──▶ keep them, durably ──▶ purge of the store itself
/// ```
///
/// So a crash at any moment loses none of them. Each try looks again, and adds to what is kept.
package struct SourceStore: StoreWrapper {
    private let source: any KeySource
    private let keys: [String]
    private let shared: Set<String>
    private let foundKeys: any FoundKeyStore

    package init(
        _ source: any KeySource,
        keys: [String],
        shared: Set<String> = [],
        foundKeys: any FoundKeyStore
    ) {
        (self.source, self.keys, self.shared, self.foundKeys) = (source, keys, shared, foundKeys)
    }

    package var inner: any PurgeStore { source }

    /// Purges the orders whose ids are stored; the others are not touched.
    package func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        let failures = await find(orders)
        let open = orders.indices.filter { failures[$0] == nil }
        var answers = failures.map { PurgeAnswer.failure($0 ?? .lost) }
        guard !open.isEmpty else { return answers }
        for (index, answer) in zip(open, await source.purge(open.map { orders[$0] })) {
            answers[index] = answer
        }
        return answers
    }

    /// For each order why that failed; `nil` when its ids are stored.
    func find(_ orders: [PurgeOrder]) async -> [EffectFailure?] {
        var failures = [EffectFailure?](repeating: nil, count: orders.count)
        var found: [FoundKeys] = []
        for key in keys {
            let name = KeyName(store: name, key: key)
            for (index, answer) in await source.keys(key, of: orders).enumerated() {
                switch answer {
                case .found(let ids):
                    found.append(
                        FoundKeys(
                            request: orders[index].request,
                            name: name,
                            ids: ids,
                            isOwn: !shared.contains(key)
                        )
                    )
                case .failure(let failure):
                    failures[index] = failures[index] ?? failure
                }
            }
        }
        if !found.isEmpty, let failure = await foundKeys.add(found) {
            return orders.map { _ in failure }
        }
        return failures
    }

    func peek(_ key: String, of orders: [PurgeOrder]) async -> [KeysAnswer] {
        await source.keys(key, of: orders)
    }

    func named(
        _ ids: [UserID],
        as key: String,
        besides orders: [PurgeOrder] = []
    ) async -> OwnersAnswer {
        ids.isEmpty ? .named([]) : await source.named(ids, as: key, besides: orders)
    }
}
