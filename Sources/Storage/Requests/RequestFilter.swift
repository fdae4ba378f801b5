package import Lifecycle

/// Which requests a list shows; what is empty shows all.
package struct RequestFilter: Hashable, Sendable {
    package var states: Set<RequestState> = []
    package var userHash: [UInt8]?
    package var provider: ProviderName?
    package var ids: ClosedRange<RequestID>?

    package init() {}
}

/// One page, the newest request first.
package struct RequestPage: Sendable {
    package let records: [RequestRecord]
    /// The cursor of the next page; `nil` on the last one.
    package let next: RequestID?
}

/// Counts for status and metrics.
package struct RequestCounts: Hashable, Sendable {
    package var byState: [RequestState: Int] = [:]
    package var byParkReason: [ParkReason: Int] = [:]
    /// Open requests that an obstacle in a store blocks, by its words.
    package var blocked: [TargetName: [String: Int]] = [:]
    package var oldestID: RequestID?
    package var oldestAcceptedAt: WallTime?

    package init() {}
}
