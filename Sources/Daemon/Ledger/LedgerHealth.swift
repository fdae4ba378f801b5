import Ledger

/// How the ledger stands to its checkpoint file.
enum LedgerHealth: Hashable, Sendable {
    case sound
    /// `missing`: the least number of entries that the ledger lacks.
    case rolledBack(missing: Int)
    case damaged(LedgerAudit.Kind)

    var code: String {
        switch self {
        case .sound: "sound"
        case .rolledBack: "rolled_back"
        case .damaged: "damaged"
        }
    }

    var alarm: StatusAlarm? {
        switch self {
        case .sound: nil
        case .rolledBack: .stateRolledBack
        case .damaged: .ledgerDamaged
        }
    }
}
