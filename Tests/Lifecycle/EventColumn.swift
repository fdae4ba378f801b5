import Lifecycle

/// One column of the phase table: every kind of event, with its good answer.
enum EventColumn: String, Hashable, CaseIterable {
    case due, lookup, checked, revoked, confirmed, planned, purged, verified, postponed, absorbed
    case update, hold, release, approve, retry, cancel, abandon, quarantine, restored

    var event: RequestEvent {
        switch self {
        case .due: .due
        case .lookup: .lookedUp(.found([]))
        case .checked: .checked(Sample.identity, Sample.token, .live)
        case .revoked: .revoked(Sample.identity, Sample.token, .success)
        case .confirmed: .confirmed(Sample.identity, Sample.token, .dead)
        case .planned: .planned(.made(Sample.plan()))
        case .purged: .purged(Sample.database, .done(PurgeCounts()))
        case .verified: .verified(Sample.database, .clean)
        case .postponed: .postponed(.check, until: Sample.start + .seconds(60))
        case .absorbed: .absorbed
        case .update:
            .identityChanged([Sample.snapshot([Sample.credential(id: Sample.freshToken)])])
        case .hold: .hold
        case .release: .release
        case .approve: .approve(Sample.plan().hash, by: Sample.approver)
        case .retry: .retry
        case .cancel: .cancel
        case .abandon: .abandon
        case .quarantine: .quarantine
        case .restored: .restored([Sample.database], at: nil)
        }
    }

    /// The column that an event belongs to; a new kind of event does not compile without one.
    init(_ event: RequestEvent) {
        self =
            switch event {
            case .due: .due
            case .lookedUp: .lookup
            case .checked: .checked
            case .revoked: .revoked
            case .confirmed: .confirmed
            case .planned: .planned
            case .purged: .purged
            case .verified: .verified
            case .postponed: .postponed
            case .absorbed: .absorbed
            case .identityChanged: .update
            case .hold: .hold
            case .release: .release
            case .approve: .approve
            case .retry: .retry
            case .cancel: .cancel
            case .abandon: .abandon
            case .quarantine: .quarantine
            case .restored: .restored
            }
    }

    /// The head of the column in the compact matrix.
    var head: String {
        switch self {
        case .due: "due"
        case .lookup: "lkp"
        case .checked: "chk"
        case .revoked: "rev"
        case .confirmed: "cnf"
        case .planned: "pln"
        case .purged: "pur"
        case .verified: "ver"
        case .postponed: "pst"
        case .absorbed: "abs"
        case .update: "new"
        case .hold: "hld"
        case .release: "rel"
        case .approve: "apr"
        case .retry: "rty"
        case .cancel: "can"
        case .abandon: "abn"
        case .quarantine: "qua"
        case .restored: "rst"
        }
    }
}
