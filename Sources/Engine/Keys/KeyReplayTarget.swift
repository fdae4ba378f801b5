package import Lifecycle

/// A store that knows a user by ids of its own, as a replay sees it.
///
/// The user of an order is one of those ids, listed by the store itself, and the order is for the
/// request to which its tombstone belongs. What the rows of the source name is not asked, but for
/// one thing: a shared id that rows name again is theirs, and stays.
package struct KeyReplayTarget: PurgeTarget {
    private let inner: any PurgeTarget
    private let origin: KeyedTarget.Origin
    /// What the tombstones of its ids are bound to, and under what such ids are kept.
    package let erased: KeyName
    private let hasher: any KeyedHasher

    init(
        _ inner: any PurgeTarget,
        origin: KeyedTarget.Origin,
        erased: KeyName,
        hasher: any KeyedHasher
    ) {
        self.inner = inner
        self.origin = origin
        self.erased = erased
        self.hasher = hasher
    }

    package var name: TargetName { inner.name }

    /// The targets whose rows name its ids, next one first; a hold there is one here, too.
    package var sources: [TargetName] {
        var names: [TargetName] = []
        var next: KeyedTarget.Origin? = origin
        while let origin = next {
            names.append(origin.name.target)
            next = origin.upstream?.origin
        }
        return names
    }

    package func tombstone(of id: UserID) -> [UInt8] { hasher.tombstone(of: id, as: erased) }

    /// Purges the ids that no row names.
    package func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        let own = await own(orders)
        var answers: [PurgeAnswer] = []
        for batch in own.batches { answers += await inner.purge(batch) }
        return own.merged(answers).map { $0.answer($0.counts) }
    }

    package func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer] {
        let own = await own(orders)
        var answers: [VerifyAnswer] = []
        for batch in own.batches { answers += await inner.verify(batch) }
        return own.merged(answers)
    }

    package func users(
        where isWanted: @escaping @Sendable (UserID) -> Bool
    ) async -> UsersAnswer {
        let answer = await inner.users(where: isWanted)
        guard case .unknown(let why) = answer else { return answer }
        return .unknown(
            "\(why); what target '\(origin.name.target)' brings back is erased here, too"
        )
    }

    /// Of the store itself.
    package func diagnose() async -> [String] { await inner.diagnose() }

    /// Of the store itself.
    package func inspect() async -> TargetFindings { await inner.inspect() }

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
            mark: hasher.mark(of:)
        )
    }
}
