import Control
import Lifecycle
import Storage

/// What the deletions of a report left in the stores, by reason.
struct LeftData {
    private struct Place: Hashable {
        let target: String
        let table: String
        let reason: String
    }

    /// Of the requests so far, by their ids.
    var scopes: [Int: ErasureScope] = [:]
    private var keptByPlace: [Place: WireReportKept] = [:]
    private var copiesByPlace: [Place: WireReportCopies] = [:]

    /// Sorted by store, table and reason.
    var kept: [WireReportKept] {
        keptByPlace.values.sorted {
            ($0.target, $0.table, $0.reason) < ($1.target, $1.table, $1.reason)
        }
    }

    var copies: [WireReportCopies] {
        copiesByPlace.values.sorted { ($0.target, $0.what) < ($1.target, $1.what) }
    }

    /// `unscoped` is for requests that name no scope.
    mutating func add(_ group: PurgeGroup, unscoped: @autoclosure () -> ErasureScope) {
        let scope = group.scope.flatMap { scopes[$0] } ?? unscoped()
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
        let none = WireReportKept(
            target: place.target,
            table: place.table,
            reason: place.reason,
            requests: 0,
            rows: 0
        )
        keptByPlace[place, default: none].requests += requestCount
        keptByPlace[place, default: none].rows += rowCount * requestCount
    }

    private mutating func add(_ copy: PurgeCounts.ResidualCopies, of group: PurgeGroup) {
        let target = group.work.target.rawValue
        let place = Place(target: target, table: "", reason: copy.text)
        var copies =
            copiesByPlace[place] ?? WireReportCopies(target: target, what: copy.text)
        copies.requests += group.requestCount
        copies.isEndKnown = copies.isEndKnown && copy.until != nil
        if let until = copy.until { copies.until = max(copies.until ?? until, until) }
        copiesByPlace[place] = copies
    }
}
