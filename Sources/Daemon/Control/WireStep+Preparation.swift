import Control
import Lifecycle
import Storage

/// What comes before the first revocation.
extension WireStep {
    init?(lookupOf request: Request) {
        guard let lookup = request.lookup else { return nil }
        self.init(
            name: "lookup \(lookup.directory)",
            kind: .lookup,
            state: Self.state(
                isDone: lookup.isDone,
                isBusy: lookup.isBusy,
                retryAt: lookup.retryAt,
                in: request
            ),
            attempts: lookup.attempts
        )
        provider = lookup.directory.rawValue
        lastError = lookup.lastFailure
        retryAt = lookup.retryAt
    }

    /// `nil` while none was ever needed; it names the store that could not be counted.
    init?(planOf request: Request) {
        guard let approval = request.approval else { return nil }
        self.init(
            name: "plan",
            kind: .plan,
            state: Self.state(
                isDone: approval.plan != nil && approval.lastFailure == nil,
                isBusy: approval.isBusy,
                retryAt: approval.retryAt,
                in: request
            ),
            attempts: approval.failures + (approval.plan == nil ? 0 : 1)
        )
        if approval.plan != nil {
            let open =
                approval.first == nil ? ParkReason.awaitingApproval.rawValue : Self.halfApproved
            verdict = approval.isGiven ? "approved" : open
        }
        target = approval.lastFailure == nil ? nil : approval.failingTarget?.rawValue
        lastError = approval.lastFailure
        retryAt = approval.retryAt
    }

    private static func state(
        isDone: Bool,
        isBusy: Bool,
        retryAt: WallTime?,
        in request: Request
    ) -> StepState {
        if isBusy { return .running }
        if isDone { return .done }
        if request.phase.isEnded { return .skipped }
        if retryAt != nil { return .retrying }
        return request.phase.parkReason == nil ? .pending : .parked
    }
}
