package import Lifecycle

/// Which requests a list shows; empty means all.
package struct RequestFilter: Hashable, Sendable {
    package var states: Set<WireState> = []
    package var userHash: [UInt8]?
    package var provider: ProviderName?
    /// Only requests that came over the control sockets from this uid.
    package var originUID: UInt32?

    package init() {}
}

/// One page of a list, the newest request first.
package struct RequestPage: Sendable {
    package let records: [RequestRecord]
    /// Pass it as the cursor to get the next page; `nil` on the last one.
    package let next: RequestID?
}

/// Counts for status and metrics.
package struct RequestCounts: Hashable, Sendable {
    /// Open and ended requests by what applications see.
    package var byState: [WireState: Int] = [:]
    package var byParkReason: [ParkReason: Int] = [:]
    /// Open requests that an obstacle in a store keeps from being erased there.
    package var blocked: [TargetName: Int] = [:]
    /// When the oldest open request was accepted.
    package var oldestAcceptedAt: WallTime?

    package init() {}
}
