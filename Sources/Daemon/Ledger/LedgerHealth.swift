import Ledger

/// How the ledger stands to its checkpoint file.
enum LedgerHealth: Hashable, Sendable {
    case sound
    /// Leaves that a checkpoint speaks of are not there.
    case rolledBack(missing: Int)
    /// The file or the ledger was changed.
    case damaged(LedgerAudit.Kind)

    /// The word on the wire.
    var code: String {
        switch self {
        case .sound: "sound"
        case .rolledBack: "rolled_back"
        case .damaged: "damaged"
        }
    }

    /// What is called out as long as it lasts; `nil` for nothing.
    var alarm: StatusAlarm? {
        switch self {
        case .sound: nil
        case .rolledBack: .stateRolledBack
        case .damaged: .ledgerDamaged
        }
    }
}
