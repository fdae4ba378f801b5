import Control
import Encoding
import Lifecycle

/// Until when erased data survives elsewhere, and what a deletion never reaches: a receipt must
/// not be silent about either.
struct ErasureHorizon: Sendable {
    let request: Request
    let scope: ErasureScope

    private typealias Member = JSONValue.Member

    /// Of all targets: when the last copy is gone, or which targets do not tell.
    var members: [JSONValue.Member] {
        let ends = request.purges.map { (target: $0.target, end: end(of: $0)) }
        let unknown = ends.filter { $0.end == nil }.map { JSONValue.string($0.target.rawValue) }
        var members: [Member] = []
        if unknown.isEmpty, let last = ends.compactMap(\.end).max() {
            members.append(Member("erasure_horizon", .string(last.rfc3339)))
        } else if !unknown.isEmpty {
            members.append(Member("erasure_horizon_unknown", .array(unknown)))
        }
        let late = scope.lateTargets(of: request).map {
            "the target '\($0)': it was configured when the purge had begun already"
        }
        let others = (late + scope.notInScope).map { JSONValue.string($0) }
        members.append(Member("not_in_scope", .array(others)))
        return members
    }

    /// Of one target.
    func members(of work: PurgeWork) -> [JSONValue.Member] {
        var members: [Member] = []
        if let kept = kept(work.target), kept > .zero, let endedAt = work.endedAt {
            members.append(Member("backups_kept_until", .string((endedAt + kept).rfc3339)))
        }
        if !work.counts.residualCopies.isEmpty {
            let copies = work.counts.residualCopies.map { copy -> JSONValue in
                var members = [Member("what", .string(copy.text))]
                if let until = copy.until {
                    members.append(Member("until", .string(until.rfc3339)))
                }
                return .object(members)
            }
            members.append(Member("residual_copies", .array(copies)))
        }
        if let end = end(of: work) {
            members.append(Member("erasure_horizon", .string(end.rfc3339)))
        }
        return members
    }

    private func kept(_ target: TargetName) -> Duration? {
        scope.target(target)?.backupsKept
    }

    /// `nil` when nobody knows how long backups or the store's own copies are kept.
    private func end(of work: PurgeWork) -> WallTime? {
        guard let kept = kept(work.target), let endedAt = work.endedAt else { return nil }
        var end = endedAt + kept
        for copy in work.counts.residualCopies {
            guard let until = copy.until else { return nil }
            end = max(end, until)
        }
        return end
    }
}
