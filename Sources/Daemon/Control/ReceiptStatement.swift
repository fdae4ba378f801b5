import Control
import Encoding
import Engine
import Ledger
import Lifecycle

/// What a receipt says of a request as it was completed: it is the same for ever.
///
/// The last entry of the request in the ledger has its ``digest``. So nothing of it may depend on
/// what comes later, and no text in it may become another one: the receipts of requests that are
/// completed would not agree with the ledger any more.
struct ReceiptStatement: Sendable {
    let request: Request
    /// What was kept, and until when copies survive.
    let scope: ErasureScope
    /// Whether that is what was in force when the request ended; if not, what is in force now.
    let isScopeRecorded: Bool

    private typealias Member = JSONValue.Member

    /// Targets that are not part of the request, as ``ErasureScope/lateTargets(of:)`` has them.
    var lateTargets: [String] { scope.lateTargets(of: request) }

    /// What the ledger has of it: of its members in the canonical form of JSON (RFC 8785).
    var digest: [UInt8] { LedgerEntry.digest(JSONValue.object(members).canonicalBytes) }

    /// The members of the receipt, in their order.
    var members: [JSONValue.Member] {
        var members: [Member] = [
            Member("kind", .string(request.kind.rawValue)),
            Member("state", .string(request.phase.wireState.rawValue)),
            Member("created_at", .string(request.createdAt.rfc3339)),
            Member("accepted_at", .string(request.acceptedAt.rfc3339)),
        ]
        members += time("purge_started_at", request.purgeStartedAt)
        members += time("completed_at", request.endedAt)
        members += approval
        members.append(Member("identities", .array(request.revocations.map(identity))))
        members.append(Member("targets", .array(request.purges.map(target))))
        members.append(Member("not_erased", .array(notErased)))
        if request.kind == .deleteAccount {
            members += ErasureHorizon(request: request, scope: scope).members
        }
        let origin = isScopeRecorded ? "at_completion" : "in_force"
        members.append(Member("configuration", .string(origin)))
        return members
    }

    /// Which plan was carried out, and who wanted that.
    private var approval: [Member] {
        guard let given = request.approval?.given else { return [] }
        var members = [
            Member("plan", .string(given.hash)),
            Member("at", .string(given.at.rfc3339)),
            Member("uid", .integer(Int64(given.by))),
        ]
        if let first = request.approval?.first {
            members += time("first_at", first.at)
            members.append(Member("first_uid", .integer(Int64(first.by))))
        }
        return [Member("approval", .object(members))]
    }

    private func time(_ name: String, _ time: WallTime?) -> [Member] {
        time.map { [Member(name, .string($0.rfc3339))] } ?? []
    }

    // MARK: Identities

    private func identity(_ revocation: Revocation) -> JSONValue {
        var members: [Member] = [
            Member("identity_id", .string(revocation.identity.description)),
            Member("provider", .string(revocation.provider.rawValue)),
            Member("client_id", .string(revocation.clientID)),
        ]
        guard let verdict = revocation.verdict else { return .object(members) }
        let evidence = RevocationEvidence(revocation: revocation, verdict: verdict)
        members += [
            Member("verdict", .string(verdict.rawValue)),
            Member("revoked", .bool(verdict.isRevoked)),
            Member("evidence", .string(evidence.text)),
        ]
        members += evidence.members
        members += time("decided_at", revocation.endedAt)
        if verdict.mayLeaveLink, let action = scope.userActions[revocation.provider.rawValue] {
            members.append(
                Member(
                    "user_action",
                    .object([
                        Member("url", .string(action.url)), Member("text", .string(action.text)),
                    ])
                )
            )
        }
        return .object(members)
    }

    // MARK: Targets

    private func target(_ work: PurgeWork) -> JSONValue {
        var members: [Member] = [
            Member("target", .string(work.target.rawValue)),
            Member("verified", .bool(work.isLookedFor && work.step == .verified)),
        ]
        if work.isLookedFor {
            members += time("verified_at", work.endedAt)
        } else {
            members.append(Member("not_looked_for", .string("no key led into this store")))
        }
        let entries = work.counts.entries.map { entry -> JSONValue in
            let hasTimestamps = scope.target(work.target)?.hasTimestamps(entry.name) ?? false
            // Only a completed request has a receipt, so every hold was lifted before.
            let isHeld = entry.action == PurgeCounts.heldAction
            return .object([
                Member("table", .string(entry.name)),
                Member("action", .string(isHeld ? "held until the hold was lifted" : entry.action)),
                Member("rows", .integer(Int64(entry.rowCount))),
                Member("newer_rows", .integer(Int64(entry.newerCount))),
                Member(
                    "cutoff",
                    .string(hasTimestamps ? request.cutoff(in: work).rfc3339 : "none")
                ),
            ])
        }
        if work.counts.isAtLeast { members.append(Member("counts", .string("at_least"))) }
        members.append(Member("tables", .array(entries)))
        let horizon = ErasureHorizon(request: request, scope: scope)
        return .object(members + horizon.members(of: work))
    }

    /// Tables that are kept, rows that are kept without their personal columns, and rows that are
    /// newer than the request.
    private var notErased: [JSONValue] {
        request.purges.flatMap { work -> [JSONValue] in
            let target = scope.target(work.target)
            let kept = (target?.tables ?? []).compactMap { table -> JSONValue? in
                guard let reason = table.kept else { return nil }
                let entries = work.counts.entries.filter {
                    target?.tables(of: $0.name).contains(table) == true
                }
                // What a purge deleted before a reload kept the table is not there any more.
                let there = entries.filter {
                    $0.action != PurgeCounts.heldAction && !$0.action.hasPrefix("delete")
                }
                let plain = there.filter { $0.action.hasPrefix("keep") }
                let rows = (plain.isEmpty ? there : plain).reduce(0) { $0 + $1.rowCount }
                return notErased(work.target, entries.first?.name ?? table.name, rows, reason)
            }
            let newer = work.counts.entries.filter { $0.newerCount > 0 }.map { entry in
                notErased(
                    work.target,
                    entry.name,
                    entry.newerCount,
                    "newer than the request, or of unreadable time: they may belong to a later"
                        + " life of the account"
                )
            }
            let shared = work.counts.entries.filter {
                $0.action == PurgeCounts.sharedAction && $0.rowCount > 0
            }.map { entry in
                notErased(
                    work.target,
                    entry.name,
                    entry.rowCount,
                    "kept: what it names still has other owners"
                )
            }
            let passedOver = work.counts.entries.compactMap { entry in
                entry.passedOverReason.map {
                    notErased(work.target, entry.name, entry.rowCount, $0)
                }
            }
            return kept + newer + shared + passedOver
        }
    }

    private func notErased(
        _ target: TargetName,
        _ table: String,
        _ rowCount: Int,
        _ reason: String
    ) -> JSONValue {
        .object([
            Member("target", .string(target.rawValue)),
            Member("table", .string(table)),
            Member("rows", .integer(Int64(rowCount))),
            Member("reason", .string(reason)),
        ])
    }
}

extension PurgeWork {
    /// Whether anything is known of the store.
    var isLookedFor: Bool { !counts.isNotLookedFor }
}
