import Ledger
import Lifecycle

extension RequestLeaves {
    /// The leaf of an approval, or of one that a changed plan took away; the detail is the hash.
    func approval(_ now: Request, was: Request, at time: WallTime) -> String {
        let (given, before) = (now.approval?.latest, was.approval?.latest)
        guard given?.hash != before?.hash || given?.by != before?.by else { return "" }
        guard let given else {
            return write(
                time,
                [
                    (.event, .word("plan_changed")), (.request, .id(now.id.value)),
                    (.detail, .word(LedgerEntry.plain(now.approval?.plan?.hash ?? "unknown"))),
                ]
            )
        }
        return write(
            time,
            [
                (.event, .word("approved")), (.request, .id(now.id.value)),
                (.detail, .word(LedgerEntry.plain(given.hash))),
                (.uid, .number(Int64(given.by))),
            ]
        )
    }
}
