import Control
import Encoding
import Engine
import Ledger
package import Lifecycle
import Settings
import Stores

/// What a receipt says of a request at its completion; it never changes.
///
/// The last ledger entry of the request has its ``digest``. Nothing here may depend on later facts,
/// and no text may change, or the receipts of completed requests would contradict the ledger.
struct ReceiptStatement: Sendable {
    let request: Request
    /// What was in force when the request ended.
    let scope: ErasureScope

    var lateStores: [String] { scope.lateStores(of: request) }

    /// Of the members in the canonical form of JSON (RFC 8785).
    var digest: [UInt8] { LedgerEntry.digest(JSONValue.object(members).canonicalBytes) }

    var members: [JSONValue.Member] {
        let head: JSONValue = [
            "controller": scope.controller?.json,
            "recipients": request.kind == .deleteAccount ? scope.recipients?.json : nil,
            "kind": .string(request.kind.rawValue),
            "state": .string(request.phase.state.rawValue),
            "created_at": .string(request.createdAt.rfc3339),
            "accepted_at": .string(request.acceptedAt.rfc3339),
            "purge_started_at": JSONValue(request.purgeStartedAt?.rfc3339),
            "completed_at": JSONValue(request.endedAt?.rfc3339),
            "approval": approval,
            "unread_sources": request.unreadSources.isEmpty
                ? nil : .array(request.unreadSources.sorted().map { .string($0) }),
            "identities": .array(request.revocations.map(identity)),
            "stores": .array(request.purges.map(store)),
            "not_erased": .array(notErased),
        ]
        return head.members + (request.kind == .deleteAccount ? horizonOfAll : [])
    }

    private var approval: JSONValue? {
        guard let given = request.approval?.given else { return nil }
        let first = request.approval?.first
        return [
            "plan": .string(given.hash),
            "at": .string(given.at.rfc3339),
            "uid": .integer(Int64(given.by)),
            "first_at": JSONValue(first?.at.rfc3339),
            "first_uid": first.map { .integer(Int64($0.by)) },
        ]
    }

    private func identity(_ revocation: Revocation) -> JSONValue {
        let verdict = revocation.verdict
        let evidence = verdict.map { RevocationEvidence(revocation: revocation, verdict: $0) }
        let mayLeaveLink = verdict?.mayLeaveLink ?? false
        let action = mayLeaveLink ? scope.userActions[revocation.provider.rawValue] : nil
        return [
            "identity_id": .string(revocation.identity.description),
            "provider": .string(revocation.provider.rawValue),
            "client_id": .string(revocation.clientID),
            "verdict": JSONValue(verdict?.rawValue),
            "revoked": verdict.map { .bool($0.isRevoked) },
            "evidence": JSONValue(evidence?.text),
            "not_held": verdict == nil ? nil : WireUnheld(revocation)?.json,
            "decided_at": verdict == nil ? nil : JSONValue(revocation.endedAt?.rfc3339),
            "user_action": action?.json,
        ]
    }

    private func store(_ work: PurgeWork) -> JSONValue {
        let isKnown = work.isLookedFor
        let isCounted = isKnown && !work.counts.isAccepted
        let configured = scope.store(work.store)
        let search = configured?.search
        let own: JSONValue = [
            "store": .string(work.store.rawValue),
            "verified": .bool(isCounted && work.step == .verified),
            "verified_at": isCounted ? JSONValue(work.endedAt?.rfc3339) : nil,
            "accepted_until": JSONValue(work.counts.acceptedUntil?.rfc3339),
            "not_looked_for": isKnown ? nil : .string(work.counts.whyNotLookedFor),
            "searchable": configured?.isSearchable == false ? false : nil,
            "searched_on": JSONValue(search?.day),
            "unmapped": search.map { .array($0.unmapped.shown.map { .string($0) }) },
            "unmapped_more": search.map { .integer(Int64($0.unmapped.moreCount)) },
            "unexamined": search.map { .array($0.unexamined.shown.map { .string($0) }) },
            "unexamined_more": search.map { .integer(Int64($0.unexamined.moreCount)) },
            "counts": work.counts.isAtLeast ? "at_least" : nil,
            "tables": .array(work.counts.entries.map { table($0, of: work) }),
        ]
        return .object(own.members + horizon(of: work))
    }

    private func table(_ entry: PurgeCounts.Entry, of work: PurgeWork) -> JSONValue {
        // Of several rules of a table, some may have no cutoff.
        let isUndated = entry.action.details?.hasNoTimestamps ?? false
        let hasTimestamps =
            !isUndated && scope.store(work.store)?.hasTimestamps(entry.name) ?? false
        return [
            "table": .string(entry.name),
            "action": .string(entry.action.code.rawValue),
            "detail": JSONValue(entry.action.detail),
            "rows": .integer(Int64(entry.rowCount)),
            "newer_rows": .integer(Int64(entry.newerCount)),
            "cutoff": .string(hasTimestamps ? request.cutoff(in: work).rfc3339 : "none"),
        ]
    }

    private var notErased: [JSONValue] {
        request.purges.flatMap { KeptData.find(in: $0, scope).map(\.json) }
    }

    // MARK: Until when erased data survives elsewhere, and what a deletion never reaches

    /// Of all stores: when the last copy is gone, or which stores do not tell.
    var horizonOfAll: [JSONValue.Member] {
        let ends = request.purges.map { (store: $0.store, end: end(of: $0)) }
        let unknown = ends.filter { $0.end == nil }.map { JSONValue.string($0.store.rawValue) }
        let last = unknown.isEmpty ? ends.compactMap(\.end).max() : nil
        let late = scope.lateStores(of: request).map {
            "the store '\($0)': it was configured when the purge had begun already"
        }
        let value: JSONValue = [
            "erasure_horizon": JSONValue(last?.rfc3339),
            "erasure_horizon_unknown": unknown.isEmpty ? nil : .array(unknown),
            "not_in_scope": .array((late + scope.notInScope).map { .string($0) }),
        ]
        return value.members
    }

    func horizon(of work: PurgeWork) -> [JSONValue.Member] {
        var backupsEndAt: WallTime?
        if let kept = kept(work.store), kept > .zero {
            backupsEndAt = work.endedAt.map { $0 + kept }
        }
        let copies = work.counts.residualCopies.map(member)
        let value: JSONValue = [
            "backups_kept_until": JSONValue(backupsEndAt?.rfc3339),
            "residual_copies": copies.isEmpty ? nil : .array(copies),
            "erasure_horizon": JSONValue(end(of: work)?.rfc3339),
        ]
        return value.members
    }

    private func member(_ copy: PurgeCounts.ResidualCopies) -> JSONValue {
        var (phrase, name): (String?, String?)
        if case .phrase(let id, let filling) = copy.content { (phrase, name) = (id, filling) }
        return [
            "what": .string(ResidualTexts.text(of: copy)),
            "phrase": JSONValue(phrase),
            "name": JSONValue(name),
            "until": JSONValue(copy.until?.rfc3339),
        ]
    }

    private func kept(_ store: StoreName) -> Duration? { scope.store(store)?.backupsKept }

    /// `nil` when it is unknown how long backups or the store's own copies are kept, or where
    /// nothing says that all of the user's data was found.
    private func end(of work: PurgeWork) -> WallTime? {
        guard work.isLookedFor, let kept = kept(work.store), let endedAt = work.endedAt
        else { return nil }
        var end = endedAt + kept
        for copy in work.counts.residualCopies {
            guard let until = copy.until else { return nil }
            end = max(end, until)
        }
        return end
    }
}

extension PurgeWork {
    var isLookedFor: Bool { !counts.isNotLookedFor }
}

extension PurgeCounts {
    /// Rules to which nothing led, as `newsletter (email via users.email)`.
    var unreachedRules: String {
        unreached.map { "\($0.name) (\($0.action.detail ?? ""))" }.joined(separator: ", ")
    }

    var whyNotLookedFor: String {
        isGivenUp
            ? ReceiptSentence.spelledOtherwise.text
            : isWithoutAnyKey
                ? "no key led into this store"
                : "no row of the user led there, or looking took too long: \(unreachedRules)"
    }
}

extension PurgeCounts.Action {
    /// What receipts say of it besides its code.
    fileprivate var detail: String? {
        switch self {
        case .held, .shared, .notLookedFor, .withoutKeys, .accepted: nil
        case .unreached(let column, let via): "\(column) via \(via)"
        case .unsearched(let column): "\(column) in other spellings"
        case .passedOver(let reason): reason.text
        case .rule(_, let details): details.text
        }
    }
}

extension PurgeCounts.Details {
    fileprivate var text: String? {
        let cascade = parent.map { "by cascade from \($0)" }
        let some: String? =
            switch rows {
            case .all: nil
            case .undated: "undated rows"
            case .noSuchID: "no such id"
            }
        let known = [cascade, reason, part, some].compactMap(\.self)
        return known.isEmpty ? nil : known.joined(separator: ", ")
    }
}

extension JSONValue {
    var members: [Member] { if case .object(let members) = self { members } else { [] } }
}

/// What receipts and reports say in English of copies that stay for a while.
package enum ResidualTexts {
    /// The templates of all kinds of stores, by the ids of their phrases.
    package static let templates = Dictionary(
        Kinds.stores.flatMap { $0.traits.residualPhrases.map { ($0.id, $0.template) } }
    ) { first, _ in first }

    /// An id that no kind has stands for itself: a later version wrote it.
    package static func text(of copies: PurgeCounts.ResidualCopies) -> String {
        switch copies.content {
        case .text(let text): text
        case .phrase(let id, let name): ResidualPhrase.filled(templates[id] ?? id, name)
        }
    }
}

/// What a purge left of one table for one reason, as receipts and reports say it.
struct KeptData: Hashable {
    enum Reason: Hashable {
        case rule(ErasureScope.Kept)
        case sentence(ReceiptSentence)
    }

    let store: StoreName
    let table: String
    /// Those that lead to the user still.
    var columns: [String] = []
    let rowCount: Int
    let reason: Reason

    var json: JSONValue {
        var (phrase, name): (String?, String?)
        switch reason {
        case .rule(let kept): (phrase, name) = (kept.action.rawValue, kept.reason)
        case .sentence(let sentence): phrase = sentence.rawValue
        }
        return [
            "store": .string(store.rawValue), "table": .string(table),
            "columns": columns.isEmpty ? nil : .array(columns.map { .string($0) }),
            "rows": .integer(Int64(rowCount)), "reason": .string(reason.text),
            "phrase": JSONValue(phrase), "name": JSONValue(name),
        ]
    }

    /// What is kept, kept without its personal columns, or newer than the request.
    static func find(in work: PurgeWork, _ scope: ErasureScope) -> [KeptData] {
        let entries = work.counts.entries
        func data(_ table: String, _ rowCount: Int, _ reason: ReceiptSentence) -> KeptData {
            KeptData(store: work.store, table: table, rowCount: rowCount, reason: .sentence(reason))
        }
        let newer = entries.filter { $0.newerCount > 0 }
            .map { data($0.name, $0.newerCount, .newer) }
        let shared = entries.filter { $0.action == .shared && $0.rowCount > 0 }
            .map { data($0.name, $0.rowCount, .shared) }
        let passedOver = entries.compactMap { entry in
            entry.passedOver.map { data(entry.name, entry.rowCount, $0) }
        }
        return kept(in: work, scope) + newer + shared + passedOver
    }

    /// What the configuration keeps; rules of one table for one reason are one.
    private static func kept(in work: PurgeWork, _ scope: ErasureScope) -> [KeptData] {
        guard let store = scope.store(work.store) else { return [] }
        var found: [KeptData] = []
        for table in store.tables {
            guard let kept = table.kept else { continue }
            let entries = work.counts.entries.filter { store.tables(of: $0.name).contains(table) }
            let name = entries.first?.name ?? table.name
            guard !found.contains(where: { $0.table == name && $0.reason == .rule(kept) }) else {
                continue
            }
            let rules = store.tables(of: name)
            let count = rowCount(entries, under: kept, of: rules.compactMap(\.kept))
            let leading = Set(rules.filter { $0.kept == kept }.compactMap(\.leading))
            found.append(
                KeptData(
                    store: work.store,
                    table: name,
                    columns: leading.sorted(),
                    rowCount: count,
                    reason: .rule(kept)
                )
            )
        }
        return found
    }

    /// How many rows the rules that keep so left, of a table that is kept in all these ways.
    ///
    /// Rows under a reason that a reload changed go to the first reason of the same action.
    private static func rowCount(
        _ entries: [PurgeCounts.Entry],
        under kept: ErasureScope.Kept,
        of all: [ErasureScope.Kept]
    ) -> Int {
        // What a purge deleted before a reload kept the table is not there any more.
        let there = entries.compactMap { entry -> (kept: ErasureScope.Kept, count: Int)? in
            guard case .rule(let verb, let details) = entry.action, verb != .delete else {
                return nil
            }
            return (ErasureScope.Kept(action: verb, reason: details.reason), entry.rowCount)
        }
        func sum(_ rows: [(kept: ErasureScope.Kept, count: Int)]) -> Int {
            rows.reduce(0) { $0 + $1.count }
        }
        let own = there.filter { $0.kept == kept }
        let isFirst = all.first { $0.action == kept.action } == kept
        let loose = isFirst ? there.filter { !all.contains($0.kept) } : []
        let same = loose.filter { $0.kept.action == kept.action }
        // Kept rows are counted anew by each pass, those that were masked only once.
        if kept.action == .keep, !own.isEmpty { return sum(own) }
        if !own.isEmpty || !same.isEmpty { return sum(own + same) }
        return all.first == kept ? sum(loose) : 0
    }
}

extension KeptData.Reason {
    /// In English.
    var text: String {
        switch self {
        case .rule(let kept):
            (kept.action == .keep ? "kept: " : "anonymized: ") + (kept.reason ?? "")
        case .sentence(let sentence): sentence.text
        }
    }
}
