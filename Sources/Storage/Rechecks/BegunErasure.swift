package import Lifecycle

/// An erasure that a replay repeats in a target.
package struct BegunErasure: Hashable, Sendable {
    package let request: RequestID
    /// Of the tombstone; empty where rows of another target led there, for all that these named.
    package let hash: [UInt8]

    package init(request: RequestID, hash: [UInt8]) {
        self.request = request
        self.hash = hash
    }
}

/// What became of one: nothing of it is left that had to go.
package struct EndedErasure: Hashable, Sendable {
    package let begun: BegunErasure
    /// What the replay that ended it took; 0 when nothing was there any more.
    package let rows: Int
    /// An earlier try had begun, and what that took is not known.
    package let isResumed: Bool

    package init(_ begun: BegunErasure, rows: Int, isResumed: Bool) {
        self.begun = begun
        self.rows = rows
        self.isResumed = isResumed
    }
}
