package import Engine
package import Lifecycle

/// Everything that is known about one request, open or ended, for the API and the receipts.
package struct RequestRecord: Hashable, Sendable {
    /// Where the request came from.
    package enum Origin: Hashable, Sendable {
        case control(uid: UInt32, role: String)
        case spool
    }

    package let request: Request
    /// `nil` once the request has ended.
    package let user: UserID?
    package let userHash: [UInt8]
    /// An operator put this request on hold, whatever holds its user or its targets.
    package let hasOwnHold: Bool
    /// Which life of the account it is, from 1.
    package let generation: Int
    package let options: SubmissionOptions
    package let origin: Origin
    /// Rises when what applications see changes.
    package let revision: Int
    package let updatedAt: WallTime
    /// When what the end destroyed had left our own files.
    package let scrubbedAt: WallTime?
    /// Looks at the stores after the end, the last ones of them, in order.
    package let rechecks: [Recheck]
    /// What became known of its verdicts after they were final, in order.
    package let addenda: [Addendum]
    /// The next look; `nil` when nobody will look again.
    package let openRecheck: RecheckOutlook?

    init(
        _ row: RequestRow,
        scrubbedAt: WallTime?,
        openRecheck: RecheckOutlook?,
        addenda: [Addendum]
    ) {
        request = row.request
        user = row.user
        userHash = row.userHash
        hasOwnHold = row.hasOwnHold
        generation = row.generation
        options = row.options
        origin = row.origin
        revision = row.revision
        updatedAt = row.updatedAt
        self.scrubbedAt = scrubbedAt
        rechecks = row.rechecks
        self.openRecheck = openRecheck
        self.addenda = addenda
    }
}

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
