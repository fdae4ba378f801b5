import Control
import Encoding
import Engine
import Ledger
import Lifecycle
import Storage

/// The proof for one completed request: what was done, and what came later.
struct Receipt: Sendable {
    let record: RequestRecord
    /// Identities that an operator had forgotten before the end.
    let forgotten: [ForgottenIdentity]
    let abandonNote: AbandonNote?
    let recheckNote: AbandonNote?
    let statement: ReceiptStatement
    let ledger: JSONValue?

    /// Its members are always in this order.
    var json: JSONValue {
        let request = record.request
        let isAbandoned =
            request.isWithoutIdentities
            || request.purges.contains { $0.counts.isWithoutKeys || $0.counts.isGivenUp }
            || request.revocations.contains { $0.verdict == .abandoned }
        let isDeletion = request.kind == .deleteAccount
        let next = isDeletion ? record.openRecheck : nil
        let areRechecksOver = isDeletion && next == nil
        let addenda = record.addenda.map(Self.wire)
        let head: JSONValue = [
            "request_id": .string(request.id.description), "summary": .string(summary),
        ]
        let tail: JSONValue = [
            "scrubbed_at": JSONValue(record.scrubbedAt?.rfc3339),
            "forgotten": forgotten.isEmpty ? nil : forgotten.json,
            "abandoned": isAbandoned ? abandonNote.map(Self.json) : nil,
            "addenda": addenda.isEmpty ? nil : addenda.json,
            "rechecks": isDeletion ? .array(record.rechecks.map(Self.json)) : nil,
            "next_recheck_at": JSONValue(next?.dueAt.rfc3339),
            "data_returned_at": JSONValue(next?.returnedAt?.rfc3339),
            "rechecks_abandoned": areRechecksOver ? recheckNote.map(Self.json) : nil,
            "ledger": ledger,
        ]
        return .object(head.members + statement.members + tail.members)
    }

    private static func wire(_ addendum: Addendum) -> WireAddendum {
        var wire = WireAddendum(addendum)
        wire.event = LedgerEntry.plain(addendum.event)
        return wire
    }

    static func evidence(of addendum: Addendum) -> String {
        let isRefused = addendum.event == Addendum.refusedCredential
        return (isRefused ? ReceiptSentence.credentialRefused : .linkCut).text
    }

    private static func json(_ recheck: Recheck) -> JSONValue {
        let found = recheck.found.map { found -> JSONValue in
            ["store": .string(found.store.rawValue), "rows": .integer(Int64(found.rowCount))]
        }
        return [
            "at": .string(recheck.at.rfc3339), "outcome": .string(recheck.outcome.rawValue),
            "found": .array(found),
            "not_configured": .array(recheck.missing.map { .string($0.rawValue) }),
        ]
    }

    private static func json(_ note: AbandonNote) -> JSONValue {
        ["uid": .integer(Int64(note.uid)), "reason": .string(note.reason)]
    }

    private func names(_ works: [PurgeWork]) -> String {
        works.map { "'\($0.store)'" }.joined(separator: ", ")
    }

    private var purgeSentences: [String] {
        let purges = record.request.purges
        guard !purges.isEmpty else { return ["No store was configured, so no data was erased."] }
        let newer = purges.filter(\.isNewerOnly)
        let accepted = purges.filter(\.counts.isAccepted)
        let erased = purges.filter { $0.isLookedFor && !$0.isNewerOnly && !$0.counts.isAccepted }
        let unknown = purges.filter(\.counts.isWithoutAnyKey)
        let givenUp = purges.filter(\.counts.isGivenUp)
        let partial = purges.filter {
            !$0.counts.unreached.isEmpty && !$0.counts.isWithoutAnyKey
        }
        var sentences: [String] = []
        if !erased.isEmpty {
            sentences.append(
                "The user's data was erased from \(names(erased)) as far as the rules reach, and"
                    + " counted again."
            )
        }
        if !accepted.isEmpty {
            sentences.append(
                "ACCEPTED, not verified: \(names(accepted)) promised to erase the user's data, see"
                    + " accepted_until."
            )
        }
        if !newer.isEmpty {
            sentences.append(
                "NOTHING was erased from \(names(newer)): what was found there is newer than the"
                    + " request, see not_erased."
            )
        }
        if !givenUp.isEmpty {
            sentences.append(
                "NOT erased from \(names(givenUp)), or only in part: an operator gave up, since a"
                    + " value is spelled otherwise."
            )
        }
        if !unknown.isEmpty {
            sentences.append("NOT looked for in \(names(unknown)): no key led there.")
        }
        sentences += partial.map { work in
            "Erased from '\(work.store)' only in part. NOT looked for, since no row of the user"
                + " led there, or looking took too long: \(work.counts.unreachedRules)."
        }
        return sentences + unmappedSentences
    }

    /// What no rule reaches, by the last search of each store.
    private var unmappedSentences: [String] {
        let purges = record.request.purges
        let store = { (work: PurgeWork) in statement.scope.store(work.store) }
        let found = purges.compactMap { work in
            store(work)?.search?.unmapped.text.map {
                "NOT looked for in '\(work.store)', since no rule reaches it: \($0)."
            }
        }
        let unexamined = purges.compactMap { work -> String? in
            guard let search = store(work)?.search else {
                return store(work)?.isSearchable == false ? nil : "'\(work.store)'"
            }
            return search.unexamined.text.map { "'\(work.store)' (\($0))" }
        }
        guard !unexamined.isEmpty else { return found }
        let names = unexamined.joined(separator: ", ")
        return found + ["NOT examined for data that no rule reaches: \(names)."]
    }

    private var summary: String {
        let request = record.request
        var sentences: [String] = []
        if request.kind == .deleteAccount {
            sentences += purgeSentences
            let late = statement.lateStores.map { "'\($0)'" }
            if !late.isEmpty {
                sentences.append("NOT erased from \(late.joined(separator: ", ")), new since then.")
            }
        }
        let confirmed = Set(record.addenda.filter { $0.verdict == .proven }.map(\.identity))
        let open = request.revocations.filter {
            ($0.verdict?.mayLeaveLink ?? true) && !confirmed.contains($0.identity)
        }
        let names =
            open.map { "\($0.provider) (\($0.verdict?.rawValue ?? "open"))" }
            + forgotten.map { "\($0.provider) (forgotten by an operator)" }
            + record.addenda.filter { $0.event == Addendum.refusedCredential }
            .map { "\($0.provider) (a credential was refused)" }
        if !names.isEmpty {
            sentences.append(
                "NOT revoked: \(names.joined(separator: ", ")); the user can cut these by hand."
            )
        } else if request.revocations.isEmpty {
            let decision = request.isWithoutIdentities ? "; an operator decided not to wait" : ""
            sentences.append("No identity was known, so nothing was revoked\(decision).")
        } else if request.revocations.allSatisfy({ $0.verdict == .nothingToRevoke }) {
            sentences.append("No known sign-in had a token, so there was nothing to revoke.")
        } else {
            sentences.append("Every known link to a provider is cut.")
        }
        if !request.unreadSources.isEmpty {
            let names = request.unreadSources.sorted().joined(separator: ", ")
            sentences.append("NOT read: \(names). What it held of the user may not be revoked.")
        }
        if let returnedAt = record.openRecheck?.returnedAt {
            sentences.append(
                "DATA CAME BACK after that: it was first found at \(returnedAt.rfc3339)."
            )
        }
        return sentences.joined(separator: " ")
    }
}

extension PurgeWork {
    fileprivate var isNewerOnly: Bool {
        isLookedFor && !counts.isAccepted && counts.workedCount == 0 && counts.newerCount > 0
            && !counts.isAtLeast
    }
}

/// Who gave up what a request waited for, and why; kept beside it, for the receipt.
struct AbandonNote: Hashable, Sendable {
    let uid: UInt32
    let reason: String
}

extension AbandonNote {
    init?(text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let uid = UInt32(parts[0]) else { return nil }
        self.init(uid: uid, reason: String(parts[1]))
    }

    var text: String { "\(uid) \(reason)" }

    /// A request may be abandoned more than once, for one thing after another.
    func following(_ earlier: AbandonNote?) -> AbandonNote {
        guard let earlier, earlier != self else { return self }
        let all = "\(reason) (before that, uid \(earlier.uid): \(earlier.reason))"
        return AbandonNote(uid: uid, reason: all)
    }

    static func name(of id: RequestID) -> String { "abandon:\(id)" }

    static func name(ofRecheck id: RequestID) -> String { "abandon_case:\(id)" }
}
