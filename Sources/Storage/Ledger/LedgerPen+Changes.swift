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
        case .save, .openCase, .saveExchange, .storeTokens, .rotate, .resumeProvider, .resumeTarget,
            .wake,
            .useGuardOverride, .tendRenewals, .beginRenewal, .endRenewal:
            break
        }
    }
}
