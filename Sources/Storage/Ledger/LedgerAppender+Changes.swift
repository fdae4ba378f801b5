import Engine
import Ledger
import Lifecycle

extension LedgerAppender {
    /// The leaf of a pause or a hold, or of its end; other changes have none here.
    func write(pauseOrResume change: StateChange) {
        switch change {
        case .pauseProvider(let name, let reason, let uid, let time):
            write("paused", (.provider, name.rawValue), reason, by: uid, at: time)
        case .pauseTarget(let name, let reason, let uid, let time):
            write("paused", (.target, name.rawValue), reason, by: uid, at: time)
        case .resumeProvider(let name, let uid, _, let time):
            write("resumed", (.provider, name.rawValue), by: uid, at: time)
        case .resumeTarget(let name, let uid, _, let time):
            write("resumed", (.target, name.rawValue), by: uid, at: time)
        case .placeHold(let hold):
            write(hold, "target_held", by: hold.uid, at: hold.since)
        case .liftHold(let hold, let uid, let time):
            write(hold, "target_released", by: uid, at: time)
        case .save, .openRecheck, .saveExchange, .storeTokens, .tell, .rotate, .wake,
            .useGuardOverride, .tendRenewals, .beginRenewal, .endRenewal, .reclock:
            break
        }
    }

    private func write(
        _ event: String,
        _ component: (LedgerEntry.Key, String),
        _ reason: String? = nil,
        by uid: UInt32?,
        at time: WallTime
    ) {
        var values: [(LedgerEntry.Key, LedgerEntry.Value)] = [
            (.event, .word(event)), (component.0, .word(LedgerEntry.plain(component.1))),
        ]
        if let reason { values.append((.detail, .word(LedgerEntry.plain(reason)))) }
        if let uid { values.append((.uid, .number(Int64(uid)))) }
        write(LedgerEntry(at: time, values))
    }

    /// The leaf of a hold on a user, or of its end.
    func write(hold event: String, of userHash: [UInt8], by uid: UInt32, at time: WallTime) {
        write(
            LedgerEntry(
                at: time,
                [.event: .word(event), .user: .hash(userHash), .uid: .number(Int64(uid))]
            )
        )
    }

    private func write(_ hold: TargetHold, _ event: String, by uid: UInt32, at time: WallTime) {
        write(
            LedgerEntry(
                at: time,
                [
                    .event: .word(event),
                    .target: .word(LedgerEntry.plain(hold.target.rawValue)),
                    .detail: .word(LedgerEntry.plain(hold.name)), .uid: .number(Int64(uid)),
                ]
            )
        )
    }
}
