import Engine
import Ledger
import Lifecycle

/// Writes the leaves of one request; their places go into `requests.leaves` with the change.
struct RequestLeaves {
    let appender: LedgerAppender

    func accept(
        _ loaded: LoadedRequest,
        of submission: Submission,
        generation: Int
    ) -> String {
        let request = loaded.request
        var values: Values = [
            (.kind, .word(request.kind.rawValue)), (.generation, .number(Int64(generation))),
        ]
        switch submission.origin {
        case .control(let uid, let role):
            values += [(.uid, .number(Int64(uid))), (.role, .word(role))]
        case .spool:
            values.append((.role, .word("spool")))
        }
        return write(request.acceptedAt, "accepted", of: request.id, values)
    }

    /// The leaves of a change: verdicts, verified stores, and what applications see.
    func change(_ now: Request, was: Request, at time: WallTime) -> String {
        var text = approval(now, was: was, at: time)
        for (position, revocation) in now.revocations.enumerated() {
            let before = position < was.revocations.count ? was.revocations[position].verdict : nil
            guard let verdict = revocation.verdict, verdict != before else { continue }
            text += write(
                time,
                "verdict",
                of: now.id,
                [
                    (.identity, .id(revocation.identity.value)),
                    (.provider, .word(revocation.provider.rawValue)),
                    (.client, .word(revocation.clientID)), (.verdict, .word(verdict.rawValue)),
                ]
            )
        }
        for (position, purge) in now.purges.enumerated() where position < was.purges.count {
            guard purge.step == .verified, was.purges[position].step != .verified else { continue }
            let entries = purge.counts.entries.filter { $0.action != .held }
            text += write(
                time,
                Self.event(purge.counts),
                of: now.id,
                [
                    (.store, .word(purge.store.rawValue)),
                    (.rows, .number(entries.reduce(0) { $0 + Int64($1.rowCount) })),
                    (.newer, .number(entries.reduce(0) { $0 + Int64($1.newerCount) })),
                ]
            )
        }
        guard !now.phase.isEnded else { return text }
        return text + state(now, was: was, at: time)
    }

    private static func event(_ counts: PurgeCounts) -> String {
        if counts.isNotLookedFor { return "not_looked_for" }
        return counts.isAccepted ? "promised" : "verified"
    }

    /// An approval, or one that a changed plan took away; the detail is the hash.
    private func approval(_ now: Request, was: Request, at time: WallTime) -> String {
        let (given, before) = (now.approval?.latest, was.approval?.latest)
        guard given?.hash != before?.hash || given?.by != before?.by else { return "" }
        guard let given else {
            let hash = now.approval?.plan?.hash ?? "unknown"
            return write(time, "plan_changed", of: now.id, [(.detail, .word(hash))])
        }
        return write(
            time,
            "approved",
            of: now.id,
            [(.detail, .word(given.hash)), (.uid, .number(Int64(given.by)))]
        )
    }

    func addendum(_ addendum: Addendum, of id: RequestID) -> String {
        write(
            addendum.recordedAt,
            "addendum",
            of: id,
            [
                (.detail, .word(addendum.event)), (.identity, .id(addendum.identity.value)),
                (.provider, .word(addendum.provider.rawValue)),
                (.client, .word(addendum.clientID)), (.verdict, .word(addendum.verdict.rawValue)),
            ]
        )
    }

    private func state(_ now: Request, was: Request, at time: WallTime) -> String {
        guard
            now.phase.state != was.phase.state
                || now.phase.parkReason != was.phase.parkReason
        else { return "" }
        var values: Values = [(.state, .word(now.phase.state.rawValue))]
        if let reason = now.phase.parkReason { values.append((.detail, .word(reason.rawValue))) }
        return write(time, "state", of: now.id, values)
    }

    /// The last leaf of a request; that of a completed deletion is the tombstone.
    func end(
        _ request: Request,
        at time: WallTime,
        erased user: (hash: [UInt8], generation: Int)?,
        receipt digest: [UInt8]?
    ) -> String {
        var values: Values = [(.state, .word(request.phase.state.rawValue))]
        if let detail = request.endDetail { values.append((.detail, .word(detail))) }
        if let digest { values.append((.receipt, .hash(digest))) }
        if let user {
            values += [
                (.user, .hash(user.hash)), (.generation, .number(Int64(user.generation))),
                (.stores, .words(request.purges.map(\.store.rawValue))),
            ]
        }
        return write(time, user == nil ? "state" : "erased", of: request.id, values)
    }

    typealias Values = [(LedgerEntry.Key, LedgerEntry.Value)]

    func write(_ time: WallTime, _ event: String, of id: RequestID, _ values: Values) -> String {
        "\(appender.write(time, values + [(.event, .word(event)), (.request, .id(id.value))])) "
    }
}
