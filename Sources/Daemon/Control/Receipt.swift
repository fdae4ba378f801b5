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
    /// Who did not want anybody to look again.
    let recheckNote: AbandonNote?
    let statement: ReceiptStatement
    /// What was signed of it; `nil` while that is not.
    let ledger: JSONValue?

    private typealias Member = JSONValue.Member

    /// The document; its members are always in this order.
    var json: JSONValue {
        let request = record.request
        var members: [Member] = [
            Member("request_id", .string(request.id.description)),
            Member("summary", .string(summary)),
        ]
        members += statement.members
        members += time("scrubbed_at", record.scrubbedAt)
        members += forgottenIdentities
        let isWithoutKeys = request.purges.contains { work in
            work.counts.entries.contains { $0.action == PurgeCounts.withoutKeysAction }
        }
        if request.isWithoutIdentities || isWithoutKeys || !abandoned.isEmpty {
            members += note("abandoned", abandonNote)
        }
        members += addenda
        if request.kind == .deleteAccount { members += rechecks }
        if let ledger { members.append(Member("ledger", ledger)) }
        return .object(members)
    }

    /// What became known of verdicts after the end; each has an entry of its own in the ledger.
    private var addenda: [Member] {
        guard !record.addenda.isEmpty else { return [] }
        let items = record.addenda.map { addendum -> JSONValue in
            .object([
                Member("at", .string(addendum.recordedAt.rfc3339)),
                Member("identity_id", .string(addendum.identity.description)),
                Member("provider", .string(addendum.provider.rawValue)),
                Member("verdict", .string(addendum.verdict.rawValue)),
                Member("event", .string(LedgerEntry.plain(addendum.event))),
                Member("occurred_at", .string(addendum.occurredAt.rfc3339)),
                Member("evidence", .string(Self.evidence(of: addendum))),
            ])
        }
        return [Member("addenda", .array(items))]
    }

    /// What happened, and who said so.
    static func evidence(of addendum: Addendum) -> String {
        addendum.event == Addendum.refusedCredential
            ? "The application submitted a credential after the revocation. The service refused"
                + " it, and the provider may honor it."
            : "The provider sent a notification that the link was cut."
    }

    /// The looks at the stores after the end, and when the next one is.
    private var rechecks: [Member] {
        let done = record.rechecks.map { recheck -> JSONValue in
            let found = recheck.found.map { found in
                JSONValue.object([
                    Member("target", .string(found.target.rawValue)),
                    Member("rows", .integer(Int64(found.rowCount))),
                ])
            }
            return .object([
                Member("at", .string(recheck.at.rfc3339)),
                Member("outcome", .string(recheck.outcome.rawValue)),
                Member("found", .array(found)),
                Member(
                    "not_configured",
                    .array(recheck.missing.map { .string($0.rawValue) })
                ),
            ])
        }
        return [Member("rechecks", .array(done))]
            + time("next_recheck_at", record.openRecheck?.dueAt)
            + time("data_returned_at", record.openRecheck?.returnedAt)
            + (record.openRecheck == nil ? note("rechecks_abandoned", recheckNote) : [])
    }

    private var forgottenIdentities: [Member] {
        guard !forgotten.isEmpty else { return [] }
        let items = forgotten.map { identity -> JSONValue in
            .object([
                Member("provider", .string(identity.provider.rawValue)),
                Member("at", .string(identity.at.rfc3339)),
                Member("uid", .integer(Int64(identity.uid))),
            ])
        }
        return [Member("forgotten", .array(items))]
    }

    private func note(_ name: String, _ note: AbandonNote?) -> [Member] {
        guard let note else { return [] }
        let members: [Member] = [
            Member("uid", .integer(Int64(note.uid))), Member("reason", .string(note.reason)),
        ]
        return [Member(name, .object(members))]
    }

    private var abandoned: [Revocation] {
        record.request.revocations.filter { $0.verdict == .abandoned }
    }

    private func time(_ name: String, _ time: WallTime?) -> [Member] {
        time.map { [Member(name, .string($0.rfc3339))] } ?? []
    }

    // MARK: Summary

    /// What was erased, and where nobody looked.
    private var purgeSentences: [String] {
        func names(_ works: [PurgeWork]) -> String {
            works.map { "'\($0.target)'" }.joined(separator: ", ")
        }
        let purges = record.request.purges
        guard !purges.isEmpty else { return ["No target was configured, so no data was erased."] }
        let newer = purges.filter(\.isNewerOnly)
        let erased = purges.filter { $0.isLookedFor && !$0.isNewerOnly }
        let unknown = purges.filter { !$0.isLookedFor }
        var sentences: [String] = []
        if !erased.isEmpty {
            sentences.append(
                "The user's data was erased from \(names(erased)) as configured, and counted again."
            )
        }
        if !newer.isEmpty {
            sentences.append(
                "NOTHING was erased from \(names(newer)): what was found there is newer than the"
                    + " request, see not_erased."
            )
        }
        if !unknown.isEmpty {
            sentences.append("NOT looked for in \(names(unknown)): no key led there.")
        }
        return sentences
    }

    private var summary: String {
        let request = record.request
        var sentences: [String] = []
        if request.kind == .deleteAccount {
            sentences += purgeSentences
            let late = statement.lateTargets.map { "'\($0)'" }
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
        if let returnedAt = record.openRecheck?.returnedAt {
            sentences.append(
                "DATA CAME BACK after that: it was first found at \(returnedAt.rfc3339)."
            )
        }
        return sentences.joined(separator: " ")
    }
}

extension PurgeWork {
    /// Nothing was erased, and something was left because it is newer than the request.
    fileprivate var isNewerOnly: Bool {
        isLookedFor && counts.workedCount == 0 && counts.newerCount > 0 && !counts.isAtLeast
    }
}
