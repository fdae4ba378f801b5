import Engine
import Ledger
import Lifecycle

/// Writes the leaves of one request and remembers where they are.
///
/// What it answers goes into `requests.leaves`, in the same statement that writes the change.
struct RequestLeaves {
    let appender: LedgerAppender

    func accept(
        _ loaded: LoadedRequest,
        of submission: Submission,
        generation: Int
    ) -> String {
        let request = loaded.request
        var values: [(LedgerEntry.Key, LedgerEntry.Value)] = [
            (.event, .word("accepted")), (.request, .id(request.id.value)),
            (.kind, .word(request.kind.rawValue)), (.generation, .number(Int64(generation))),
        ]
        switch submission.origin {
        case .control(let uid, let role):
            values += [(.uid, .number(Int64(uid))), (.role, .word(LedgerEntry.plain(role)))]
        case .spool:
            values.append((.role, .word("spool")))
        }
        return write(request.acceptedAt, values)
    }

    /// The leaves of a change: verdicts, verified targets, and what applications see.
    func change(_ now: Request, was: Request, at time: WallTime) -> String {
        var text = approval(now, was: was, at: time)
        for (position, revocation) in now.revocations.enumerated() {
            let before = position < was.revocations.count ? was.revocations[position].verdict : nil
            guard let verdict = revocation.verdict, verdict != before else { continue }
            text += self.verdict(
                verdict,
                of: now.id,
                (revocation.identity, revocation.provider, revocation.clientID),
                at: time
            )
        }
        for (position, purge) in now.purges.enumerated() where position < was.purges.count {
            guard purge.step == .verified, was.purges[position].step != .verified else { continue }
            let entries = purge.counts.entries.filter { $0.action != PurgeCounts.heldAction }
            text += write(
                time,
                [
                    (.event, .word(purge.counts.isNotLookedFor ? "not_looked_for" : "verified")),
                    (.request, .id(now.id.value)),
                    (.target, .word(LedgerEntry.plain(purge.target.rawValue))),
                    (.rows, .number(entries.reduce(0) { $0 + Int64($1.rowCount) })),
                    (.newer, .number(entries.reduce(0) { $0 + Int64($1.newerCount) })),
                ]
            )
        }
        guard !now.phase.isEnded else { return text }
        return text + state(now, was: was, at: time)
    }

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

    func verdict(
        _ verdict: Verdict,
        of id: RequestID,
        _ link: (identity: IdentityID, provider: ProviderName, clientID: String),
        at time: WallTime
    ) -> String {
        write(
            time,
            [
                (.event, .word("verdict")), (.request, .id(id.value)),
                (.identity, .id(link.identity.value)),
                (.provider, .word(LedgerEntry.plain(link.provider.rawValue))),
                (.client, .word(LedgerEntry.plain(link.clientID))),
                (.verdict, .word(verdict.rawValue)),
            ]
        )
    }

    /// The leaf of what became known of a final verdict.
    func addendum(_ addendum: Addendum, of id: RequestID) -> String {
        write(
            addendum.recordedAt,
            [
                (.event, .word("addendum")), (.request, .id(id.value)),
                (.detail, .word(LedgerEntry.plain(addendum.event))),
                (.identity, .id(addendum.identity.value)),
                (.provider, .word(LedgerEntry.plain(addendum.provider.rawValue))),
                (.client, .word(LedgerEntry.plain(addendum.clientID))),
                (.verdict, .word(addendum.verdict.rawValue)),
            ]
        )
    }

    private func state(_ now: Request, was: Request, at time: WallTime) -> String {
        guard
            now.phase.wireState != was.phase.wireState
                || now.phase.parkReason != was.phase.parkReason
        else { return "" }
        var values: [(LedgerEntry.Key, LedgerEntry.Value)] = [
            (.event, .word("state")), (.request, .id(now.id.value)),
            (.state, .word(now.phase.wireState.rawValue)),
        ]
        if let reason = now.phase.parkReason { values.append((.detail, .word(reason.rawValue))) }
        return write(time, values)
    }

    /// The last leaf of a request; that of a completed deletion is the tombstone.
    func end(
        _ request: Request,
        at time: WallTime,
        erased user: (hash: [UInt8], generation: Int)?,
        receipt digest: [UInt8]?
    ) -> String {
        var values: [(LedgerEntry.Key, LedgerEntry.Value)] = [
            (.event, .word(user == nil ? "state" : "erased")), (.request, .id(request.id.value)),
            (.state, .word(request.phase.wireState.rawValue)),
        ]
        if let detail = request.endDetail { values.append((.detail, .word(detail))) }
        if let digest { values.append((.receipt, .hash(digest))) }
        if let user {
            values += [
                (.user, .hash(user.hash)), (.generation, .number(Int64(user.generation))),
                (.targets, .words(request.purges.map { LedgerEntry.plain($0.target.rawValue) })),
            ]
        }
        return write(time, values)
    }

    func write(
        _ time: WallTime,
        _ values: [(LedgerEntry.Key, LedgerEntry.Value)]
    ) -> String {
        "\(appender.write(LedgerEntry(at: time, values))) "
    }
}
