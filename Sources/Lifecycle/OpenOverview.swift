/// Open requests by where they stand and how old they are, and the next deadlines.
package struct OpenOverview: Hashable, Sendable {
    /// Open requests of one phase and one reason to wait.
    package struct Group: Hashable, Sendable {
        package let state: RequestState
        package let reason: ParkReason?
        /// The youngest first; one more than there were bounds.
        package let counts: [Int]
        package let oldest: RequestID?
        package let oldestAt: WallTime?

        package init(
            state: RequestState,
            reason: ParkReason?,
            counts: [Int],
            oldest: RequestID?,
            oldestAt: WallTime?
        ) {
            (self.state, self.reason, self.counts) = (state, reason, counts)
            (self.oldest, self.oldestAt) = (oldest, oldestAt)
        }
    }

    /// An open request with its deadline.
    package struct Deadline: Hashable, Sendable {
        package let request: RequestID
        package let at: WallTime
        package let state: RequestState
        package let reason: ParkReason?

        package init(request: RequestID, at: WallTime, state: RequestState, reason: ParkReason?) {
            (self.request, self.at, self.state, self.reason) = (request, at, state, reason)
        }
    }

    package var groups: [Group] = []
    package var overdue = 0
    /// Due later than now and before the end of the time that was asked about.
    package var near = 0
    /// The earliest first.
    package var deadlines: [Deadline] = []

    package init() {}
}

/// What the state no longer has, or never had, of a time.
package struct RecordGaps: Codable, Hashable, Sendable {
    /// Requests that ended then, and whose rows are gone.
    package var requests = 0
    /// Erasures of which only the tombstone is known, as after a restore.
    package var erasures = 0
    /// When the oldest request was accepted that is on record.
    package var recordsSince: WallTime?

    package init() {}

    /// Whether the numbers of a report are the least there can have been.
    package var isIncomplete: Bool { requests > 0 || erasures > 0 }
}
