import Control
import Engine
import Lifecycle
import Storage

/// A target of a replay and the tombstones to look for in it.
struct ReplayPass: Sendable {
    let target: any PurgeTarget
    let tombstones: [[UInt8]: Tombstone]
    let input: ReplayInput
    /// The target, where it lists ids of its own and no users.
    let byKey: KeyReplayTarget?
    /// A hold on one of these, or on rows of it, keeps everything in the target.
    var sources: [TargetName]
    private let hasher: any KeyedHasher

    init(
        _ target: any PurgeTarget,
        _ tombstones: [[UInt8]: Tombstone],
        _ input: ReplayInput,
        _ hasher: any KeyedHasher
    ) {
        self.target = target
        self.tombstones = tombstones
        self.input = input
        self.hasher = hasher
        byKey = target as? KeyReplayTarget
        sources = byKey?.sources ?? []
    }

    /// Rows of another target led here: an order is for all that these named.
    var isLed = false
    /// What of the target has no time cutoff; `nil` where everything has one.
    var withoutTimestamps: String?

    /// A copy of the store is worked on, not the store.
    var isCopy: Bool { input.copy != nil }
    /// Nothing is purged: neither the store nor a copy of it.
    var isLookOnly: Bool { input.isDrill && input.copy == nil }

    /// What is known of a user, or id, that the store lists; `nil` for one that was not erased.
    func tombstone(of user: UserID) -> Tombstone? {
        tombstones[
            byKey?.tombstone(of: user) ?? hasher.hash(user.exposeText(), domain: .user)
        ]
    }

    /// What to erase again; `nil` for what was not erased.
    func order(for user: UserID) -> ReplayOrder? {
        tombstone(of: user).map { tombstone in
            ReplayOrder(
                purge: PurgeOrder(
                    request: tombstone.request,
                    user: user,
                    cutoff: max(tombstone.cutoff, input.restoredAt ?? .distantPast)
                ),
                tombstone: tombstone
            )
        }
    }

    /// What is noted of an order before it is carried out.
    func begun(_ order: ReplayOrder) -> BegunErasure {
        BegunErasure(request: order.purge.request, hash: isLed ? [] : order.tombstone.hash)
    }

    /// Whether what is found of an order can only be what was erased.
    ///
    /// Where nothing is dated, that takes somebody's word that the store was restored, and an
    /// erasure from before that.
    func isSure(_ order: ReplayOrder) -> Bool {
        withoutTimestamps == nil || input.restoredAt.map { order.tombstone.erasedAt <= $0 } ?? false
    }

    /// What to tell where ``isSure(_:)`` says no.
    var undatedAdvice: String {
        input.restoredAt == nil
            ? ", so this may be of an account that was registered anew; if all was restored, say"
                + " when with --restored-at"
            : ", and the erasure was after --restored-at: this came from elsewhere"
    }

    /// The holds on rows that the target has to mind; `nil` when nothing may go from it.
    ///
    /// What holds rows of a source holds what they name, too; here nobody knows which that is.
    func holds(among all: [TargetHold]) -> [TargetHold]? {
        // Whoever placed a hold wants the data to stay, wherever it came back from.
        guard !isCopy else { return [] }
        let ours = all.filter { $0.target == target.name }
        guard ours.allSatisfy({ $0.rows != nil }),
            !all.contains(where: { sources.contains($0.target) })
        else { return nil }
        return ours
    }
}
