import Control
import Encoding
import Lifecycle

/// Until when erased data survives elsewhere, and what a deletion never reaches.
struct ErasureHorizon: Sendable {
    let request: Request
    let scope: ErasureScope

    /// Of all targets: when the last copy is gone, or which targets do not tell.
    var members: [JSONValue.Member] {
        let ends = request.purges.map { (target: $0.target, end: end(of: $0)) }
        let unknown = ends.filter { $0.end == nil }.map { JSONValue.string($0.target.rawValue) }
        let last = unknown.isEmpty ? ends.compactMap(\.end).max() : nil
        let late = scope.lateTargets(of: request).map {
            "the target '\($0)': it was configured when the purge had begun already"
        }
        let value: JSONValue = [
            "erasure_horizon": JSONValue(last?.rfc3339),
            "erasure_horizon_unknown": unknown.isEmpty ? nil : .array(unknown),
            "not_in_scope": .array((late + scope.notInScope).map { .string($0) }),
        ]
        return value.members
    }

    func members(of work: PurgeWork) -> [JSONValue.Member] {
        var backupsEndAt: WallTime?
        if let kept = kept(work.target), kept > .zero {
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

    private func kept(_ target: TargetName) -> Duration? {
        scope.target(target)?.backupsKept
    }

    /// `nil` when it is unknown how long backups or the store's own copies are kept.
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

extension JSONValue {
    /// Of an object; none of anything else.
    var members: [Member] { if case .object(let members) = self { members } else { [] } }
}
