/// A user to look for in a store, or an id by which the store knew one.
package struct ErasureOrder: Hashable, Sendable {
    package let request: RequestID
    package let user: UserID
    package let cutoff: WallTime
    /// When the deletion was completed; `nil` where nobody asks.
    package var erasedAt: WallTime?
}

/// Users, or ids, that one call of a store is about.
package struct RecheckBatch: Hashable, Sendable {
    /// What is done with them.
    package enum Purpose: Hashable, Sendable {
        case erase
        case examine
        /// Counted and left, since what has no date may be of a later life of the user.
        case leave
    }

    /// An order and what became of it.
    package struct Work: Hashable, Sendable {
        package let order: ErasureOrder
        let tombstone: Tombstone
        var rows = 0
        var newer = 0
        /// An earlier try had begun, and what that purged is not known.
        var isResumed = false
        /// It is a shared id, or has some, that rows name again.
        private var isShared = false

        /// Something was purged, now or in an earlier try of which nothing is left.
        var isErased: Bool { rows > 0 || (isResumed && newer == 0 && !isShared) }

        init(_ tombstone: Tombstone, _ user: UserID, cutoff: WallTime) {
            order = ErasureOrder(
                request: tombstone.request,
                user: user,
                cutoff: cutoff,
                erasedAt: tombstone.erasedAt
            )
            self.tombstone = tombstone
        }

        func begun(cutoff: WallTime) -> Work { Work(tombstone, order.user, cutoff: cutoff) }

        mutating func note(_ answer: PurgeAnswer) {
            switch answer {
            case .done(let counts), .held(let counts, _), .halted(let counts):
                rows += counts.workedCount
                newer = counts.newerCount
                isShared = counts.entries.contains { $0.action == .shared && $0.rowCount > 0 }
            case .failure(.lost): isResumed = true
            case .stopped, .failure: break
            }
        }
    }

    package let store: StoreName
    package let view: StoreView
    package let purpose: Purpose
    package internal(set) var open: [Work]
    var done: [Work] = []
    var held: [Work] = []
    var failure: String?
    /// What is about to be purged was noted, durably.
    var isNoted = false
    var retry = Retry()
    var attempt = ""
    var holds: [StoreHold] = []
    var answers: [PurgeAnswer] = []
    /// Stores to which the rows of this one lead, in order; `nil` for what rows do not lead to.
    var led: Led?

    struct Led: Hashable, Sendable {
        var rest: [StoreName]
        let isLate: Bool
    }

    init(_ store: StoreName, _ view: StoreView, _ purpose: Purpose, _ open: [Work]) {
        (self.store, self.view, self.purpose) = (store, view, purpose)
        self.open = open
    }

    package var orders: [ErasureOrder] { open.map(\.order) }

    /// Noted before the purge; without a hash where rows led here, for all that these named.
    func begun(_ work: Work) -> BegunErasure {
        BegunErasure(request: work.order.request, hash: led == nil ? work.tombstone.hash : [])
    }

    func resuming(_ known: Set<BegunErasure>) -> RecheckBatch {
        var batch = self
        batch.isNoted = true
        for index in open.indices {
            batch.open[index].isResumed = known.contains(begun(open[index]))
        }
        return batch
    }

    func noting(_ answers: [PurgeAnswer]) -> RecheckBatch {
        var batch = self
        for (index, answer) in zip(open.indices, answers) { batch.open[index].note(answer) }
        batch.answers = answers
        return batch
    }
}

/// Users who are not to be erased again, and what is known of them.
package struct UsersOnHold: Hashable, Sendable {
    package let hashes: Set<[UInt8]>
    package let requests: Set<RequestID>

    package init(hashes: Set<[UInt8]> = [], requests: Set<RequestID> = []) {
        (self.hashes, self.requests) = (hashes, requests)
    }

    package func includes(_ tombstone: Tombstone) -> Bool {
        requests.contains(tombstone.request)
            || (!tombstone.isKey && hashes.contains(tombstone.hash))
    }
}

/// A user who was erased, or an id of one, and has data in a store again.
package struct RecheckFinding: Hashable, Sendable {
    package let order: ErasureOrder
    package let store: StoreName
    package let rowCount: Int
    /// Under what the id is kept; `nil` where it is the user's own.
    package let key: KeyName?
}

/// A deletion whose data a sample found.
package struct ReturnedUser: Hashable, Sendable {
    package let request: RequestID
    /// `nil` where only ids of stores are known.
    package let user: UserID?
    package let found: [Recheck.Found]
    package let keys: [Key]

    /// An id by which a store knew the user.
    package struct Key: Hashable, Sendable {
        package let name: KeyName
        package let id: UserID
    }
}

/// An erasure that a replay repeats in a store; noted before the store is asked.
package struct BegunErasure: Hashable, Sendable {
    package let request: RequestID
    /// Of the tombstone; empty where rows of another store led there, for all that these named.
    package let hash: [UInt8]

    package init(request: RequestID, hash: [UInt8]) { (self.request, self.hash) = (request, hash) }
}

/// A ``BegunErasure`` of which nothing is left that had to be erased.
package struct EndedErasure: Hashable, Sendable {
    package let begun: BegunErasure
    /// What the replay that ended it erased; 0 when nothing was there any more.
    package let rows: Int
    /// An earlier try had begun, and what that erased is not known.
    package let isResumed: Bool

    package init(_ begun: BegunErasure, rows: Int, isResumed: Bool) {
        (self.begun, self.rows, self.isResumed) = (begun, rows, isResumed)
    }
}

/// An erased user, or an id by which a store knew one, as far as is known afterwards.
package struct Tombstone: Hashable, Sendable {
    /// Keyed, of the user id or of the other id with its name.
    package let hash: [UInt8]
    /// Of the user's account; 0 for an id of a store.
    package let generation: Int
    package let erasedAt: WallTime
    package let request: RequestID
    /// Only rows not newer than this are meant; ``erasedAt`` where the request's own is not known.
    package let cutoff: WallTime
    package let isKey: Bool
    /// From which an operator gave up erasing: what is there never went.
    package var givenUp: Set<StoreName> = []

    package init(
        hash: [UInt8],
        generation: Int = 0,
        erasedAt: WallTime,
        request: RequestID,
        cutoff: WallTime? = nil,
        isKey: Bool = false
    ) {
        (self.hash, self.generation) = (hash, generation)
        (self.erasedAt, self.request) = (erasedAt, request)
        self.cutoff = min(cutoff ?? erasedAt, erasedAt)
        self.isKey = isKey
    }
}
