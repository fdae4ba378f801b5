/// The stages of an open request, in order.
package enum Stage: String, Sendable, CaseIterable, Comparable {
    case accepted, scheduled, revoking, purging, verifying

    private var order: Int {
        switch self {
        case .accepted: 0
        case .scheduled: 1
        case .revoking: 2
        case .purging: 3
        case .verifying: 4
        }
    }

    package static func < (left: Stage, right: Stage) -> Bool { left.order < right.order }
}

/// Where a request is; `parked` remembers the stage that it goes on with.
package enum Phase: Hashable, Sendable {
    case open(Stage)
    case parked(Stage, ParkReason, until: WallTime?)
    case completed
    case cancelled

    package var stage: Stage? {
        switch self {
        case .open(let stage), .parked(let stage, _, _): stage
        case .completed, .cancelled: nil
        }
    }

    package var isEnded: Bool { stage == nil }

    package var state: RequestState {
        switch self {
        case .open(.accepted): .accepted
        case .open(.scheduled): .scheduled
        case .open(.revoking): .revoking
        case .open(.purging): .purging
        case .open(.verifying): .verifying
        case .parked: .parked
        case .completed: .completed
        case .cancelled: .cancelled
        }
    }

    package var parkReason: ParkReason? {
        guard case .parked(_, let reason, _) = self else { return nil }
        return reason
    }
}
