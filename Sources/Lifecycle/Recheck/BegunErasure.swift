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
