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
