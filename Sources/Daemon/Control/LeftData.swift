import Control
package import Lifecycle
import Storage
import Stores

/// What the deletions of a report left in the stores, by reason.
struct LeftData {
    /// Where something was left, and why; of copies, `reason` is what keeps them.
    private struct Place: Hashable, Comparable {
        let target: String
        let table: String
        let reason: String

        static func < (left: Place, right: Place) -> Bool {
            (left.target, left.table, left.reason) < (right.target, right.table, right.reason)
        }
    }

    /// Of the requests so far, by their ids.
    var scopes: [Int?: ErasureScope] = [:]
    private var keptByPlace: [Place: WireReportKept] = [:]
    private var copiesByPlace: [Place: WireReportCopies] = [:]

    /// Sorted by store, table and reason.
    var kept: [WireReportKept] { keptByPlace.sorted { $0.key < $1.key }.map(\.value) }

    /// Sorted by store and by what keeps them.
    var copies: [WireReportCopies] { copiesByPlace.sorted { $0.key < $1.key }.map(\.value) }

    /// ``scopes`` has the group's.
    mutating func add(_ group: PurgeGroup) {
        guard let scope = scopes[group.scope] else { return }
        var rows: [Place: Int] = [:]
        for data in KeptData.find(in: group.work, scope) where data.rowCount > 0 {
            let place = Place(
                target: data.target.rawValue,
                table: data.table,
                reason: data.reason
            )
            rows[place, default: 0] += data.rowCount
        }
        if !group.work.isLookedFor {
            let target = group.work.target.rawValue
            rows[Place(target: target, table: "", reason: "not searched: no key led there")] = 0
        }
        for (place, count) in rows { add(count, at: place, of: group.requestCount) }
        for copy in group.work.counts.residualCopies { add(copy, of: group) }
    }

    private mutating func add(_ rowCount: Int, at place: Place, of requestCount: Int) {
        var kept =
            keptByPlace[place]
            ?? WireReportKept(
                target: place.target,
                table: place.table,
                reason: place.reason,
                requests: 0,
                rows: 0
            )
        kept.requests += requestCount
        kept.rows += rowCount * requestCount
        keptByPlace[place] = kept
    }

    private mutating func add(_ copy: PurgeCounts.ResidualCopies, of group: PurgeGroup) {
        let place = Place(
            target: group.work.target.rawValue,
            table: "",
            reason: ResidualTexts.text(of: copy)
        )
        var copies =
            copiesByPlace[place] ?? WireReportCopies(target: place.target, what: place.reason)
        copies.requests += group.requestCount
        copies.isEndKnown = copies.isEndKnown && copy.until != nil
        if let until = copy.until { copies.until = max(copies.until ?? until, until) }
        copiesByPlace[place] = copies
    }
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
