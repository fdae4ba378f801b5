package import Lifecycle

/// A store that knows a user by ids of its own, as a replay sees it.
///
/// The user of an order is one of those ids, listed by the store itself, and the order is for the
/// request to which its tombstone belongs. What the rows of the source name is not asked, but for
/// one thing: a shared id that rows name again is theirs, and stays.
package struct KeyReplayStore: StoreWrapper, UserListing {
    package let inner: any PurgeStore
    let origin: KeyedStore.Origin
    /// What the tombstones of its ids are bound to, and under what such ids are kept.
    package let erased: KeyName
    let hasher: any KeyedHasher

    /// The stores whose rows name its ids, next one first; a hold there is one here, too.
    package var sources: [StoreName] {
        var names: [StoreName] = []
        var next: KeyedStore.Origin? = origin
        while let origin = next {
            names.append(origin.name.store)
            next = origin.upstream?.origin
        }
        return names
    }

    package func tombstone(of id: UserID) -> [UInt8] { hasher.tombstone(of: id, as: erased) }

    /// Purges the ids that no row names.
    package func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        await own(orders).purge(in: inner).map { $0.answer($0.counts) }
    }

    package func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer] {
        await own(orders).verify(in: inner)
    }

    package func users(where isWanted: @escaping UserFilter) async -> UsersAnswer {
        let answer = await inner.listedUsers(where: isWanted)
        guard case .unknown(let why) = answer else { return answer }
        return .unknown(
            "\(why); what store '\(origin.name.store)' brings back is erased here, too"
        )
    }

    /// What it works on belongs to others.
    package func shutdown() async {}

    private func own(_ orders: [PurgeOrder]) async -> KeyOrders {
        var named = OwnersAnswer.named([])
        if origin.isShared {
            let ids = Array(Set(orders.map(\.user)))
            named = await origin.source.named(ids, as: origin.name.key)
        }
        return KeyOrders(
            orders,
            orders.map { .found([$0.user]) },
            named,
            origin: origin,
            partitionKey: hasher.partitionKey(of:)
        )
    }
}
