import Engine
import Ledger
import Lifecycle

extension LedgerPen {
    /// The leaf of a pause or its end; other changes have none here.
    func write(pauseOrResume change: StateChange) {
        switch change {
        case .pauseProvider(let name, let reason, let time):
            write(
                LedgerEntry(
                    at: time,
                    [
                        .event: .word("paused"),
                        .provider: .word(LedgerEntry.plain(name.rawValue)),
                        .detail: .word(LedgerEntry.plain(reason)),
                    ]
                )
            )
        case .pauseTarget(let name, let reason, let time):
            write(
                LedgerEntry(
                    at: time,
                    [
                        .event: .word("paused"), .target: .word(LedgerEntry.plain(name.rawValue)),
                        .detail: .word(LedgerEntry.plain(reason)),
                    ]
                )
            )
        case .placeHold(let hold):
            write(hold, "target_held", by: hold.uid, at: hold.since)
        case .liftHold(let hold, let uid, let time):
            write(hold, "target_released", by: uid, at: time)
        case .save, .openCase, .saveExchange, .storeTokens, .rotate, .resumeProvider, .resumeTarget,
            .wake,
            .useGuardOverride, .tendRenewals, .beginRenewal, .endRenewal:
            break
        }
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
