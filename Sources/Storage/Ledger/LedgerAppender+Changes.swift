import Engine
import Ledger
import Lifecycle

extension LedgerAppender {
    /// The leaf of a pause or a hold, or of its end; other changes have none here.
    func write(pauseOrResume change: StateChange) {
        switch change {
        case .pauseProvider(let name, let reason, let uid, let time):
            write("paused", [(.provider, .word(name.rawValue))], reason, by: uid, at: time)
        case .pauseTarget(let name, let reason, let uid, let time):
            write("paused", [(.target, .word(name.rawValue))], reason, by: uid, at: time)
        case .resumeProvider(let name, let uid, _, let time):
            write("resumed", [(.provider, .word(name.rawValue))], by: uid, at: time)
        case .resumeTarget(let name, let uid, _, let time):
            write("resumed", [(.target, .word(name.rawValue))], by: uid, at: time)
        case .placeHold(let hold):
            let target = [(LedgerEntry.Key.target, LedgerEntry.Value.word(hold.target.rawValue))]
            write("target_held", target, hold.name, by: hold.uid, at: hold.since)
        case .liftHold(let hold, let uid, let time):
            let target = [(LedgerEntry.Key.target, LedgerEntry.Value.word(hold.target.rawValue))]
            write("target_released", target, hold.name, by: uid, at: time)
        case .save, .openRecheck, .saveExchange, .storeTokens, .tell, .rotate, .wake,
            .useGuardOverride, .tendRenewals, .beginRenewal, .endRenewal, .reclock,
            .answer:
            break
        }
    }

    /// A leaf that names its event, what it is about and who caused it.
    func write(
        _ event: String,
        _ values: [(LedgerEntry.Key, LedgerEntry.Value)],
        _ detail: String? = nil,
        by uid: UInt32? = nil,
        at time: WallTime
    ) {
        var all = values + [(.event, .word(event))]
        if let detail { all.append((.detail, .word(detail))) }
        if let uid { all.append((.uid, .number(Int64(uid)))) }
        write(time, all)
    }
}
