import Control
import Engine
import Lifecycle
import Storage

/// The proof for one completed request: what was done, and what came later.
struct Receipt: Sendable {
    let record: RequestRecord
    let abandonNote: AbandonNote?
    /// Who did not want anybody to look again.
    let caseNote: AbandonNote?
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
        if request.isWithoutIdentities || !abandoned.isEmpty {
            members += note("abandoned", abandonNote)
        }
        if request.kind == .deleteAccount { members += rechecks }
        if let ledger { members.append(Member("ledger", ledger)) }
        return .object(members)
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
            + time("next_recheck_at", record.openCase?.dueAt)
            + time("data_returned_at", record.openCase?.returnedAt)
            + (record.openCase == nil ? note("rechecks_abandoned", caseNote) : [])
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

    private var summary: String {
        let request = record.request
        var sentences: [String] = []
        if request.kind == .deleteAccount {
            sentences.append(
                request.purges.isEmpty
                    ? "No target was configured, so no data was erased."
                    : "The user's data was erased from "
                        + request.purges.map { "'\($0.target)'" }.joined(separator: ", ")
                        + " as configured, and counted again."
            )
            let late = statement.lateTargets.map { "'\($0)'" }
            if !late.isEmpty {
                sentences.append("NOT erased from \(late.joined(separator: ", ")), new since then.")
            }
        }
        let open = request.revocations.filter { !($0.verdict?.isRevoked ?? false) }
        if request.revocations.isEmpty {
            let decision = request.isWithoutIdentities ? "; an operator decided not to wait" : ""
            sentences.append("No identity was known, so nothing was revoked\(decision).")
        } else if open.isEmpty {
            sentences.append("Every known link to a provider is cut.")
        } else {
            let names = open.map { "\($0.provider) (\($0.verdict?.rawValue ?? "open"))" }
            sentences.append(
                "NOT revoked: \(names.joined(separator: ", ")); the user can cut these by hand."
            )
        }
        if let returnedAt = record.openCase?.returnedAt {
            sentences.append(
                "DATA CAME BACK after that: it was first found at \(returnedAt.rfc3339)."
            )
        }
        return sentences.joined(separator: " ")
    }
}
