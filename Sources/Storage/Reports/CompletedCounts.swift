package import Lifecycle

/// What the requests add up to that were completed within a time.
package struct CompletedCounts: Sendable {
    /// From the making of a deletion to its end, ascending.
    package internal(set) var durations: [Duration] = []
    /// Deletions that ended after their deadline.
    package internal(set) var lateCount = 0
    package internal(set) var verdicts: [ProviderName: [Verdict: Int]] = [:]

    package init() {}

    /// How many took no longer.
    package func count(upTo bound: Duration) -> Int {
        durations.indices.partitionPoint { durations[$0] > bound }
    }

    /// The smallest of them that at least this share of all does not exceed (nearest rank); `nil`
    /// without any.
    package func duration(at share: Double) -> Duration? {
        guard !durations.isEmpty else { return nil }
        let rank = Int((share * Double(durations.count)).rounded(.up))
        return durations[min(max(rank, 1), durations.count) - 1]
    }
}

/// Deletions whose purges of a store had the same counts.
package struct PurgeGroup: Sendable {
    /// The purge as a receipt takes it.
    package let work: PurgeWork
    /// ``StateDatabase/scopeDocument(_:)``; `nil` if none was recorded.
    package let scope: Int?
    package let requestCount: Int
}
