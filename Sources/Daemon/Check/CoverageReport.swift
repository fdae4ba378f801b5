import Engine
import Lifecycle
import Stores

/// What a check of one target reports of data that no rule deals with.
///
/// Each finding is reported once: by the first of the targets that work in one database, and not
/// as advice besides.
struct CoverageReport: Equatable {
    /// Looks like user data that no rule deals with, or keeps deletions from ever ending.
    let unmapped: [CoverageFinding]
    /// Places of which only a part was read.
    let sampled: [CoverageFinding]
    /// What an operator should know besides.
    let advice: [String]

    /// `reported` is what checks of earlier targets of the same database report.
    init(
        _ found: [CoverageFinding],
        _ inspected: TargetFindings,
        reported: [CoverageFinding] = []
    ) {
        let isNew = { (finding: CoverageFinding) in
            !reported.contains {
                $0.name == finding.name && $0.isCovered == finding.isCovered
                    && $0.isSample == finding.isSample
            }
        }
        let open = found.filter { finding in
            !finding.isCovered && isNew(finding)
                && !inspected.uncovered.contains { $0.name == finding.name }
        }
        // Advice about a column has the rule that it needs.
        let unmapped =
            inspected.uncovered.filter(isNew)
            + open.map { finding in
                guard let sentence = inspected.advice.first(where: finding.isNamed) else {
                    return finding
                }
                return CoverageFinding(name: finding.name, reason: sentence, isCovered: false)
            }
        sampled = found.filter { $0.isSample && isNew($0) }
        let known = inspected.uncovered.filter { !isNew($0) }.map(\.reason)
        advice =
            known
            + inspected.advice.filter { sentence in
                !unmapped.contains { $0.isNamed(in: sentence) }
            }
        self.unmapped = unmapped
    }

    /// What a person is asked: all columns with few numbers are one question.
    var questions: [CoverageFinding] {
        let few = unmapped.filter(\.isFew)
        guard let first = few.first else { return unmapped }
        let names = few.map(\.name).joined(separator: ", ")
        return unmapped.filter { !$0.isFew }
            + [CoverageFinding(name: names, reason: first.reason, isCovered: false)]
    }
}

extension DaemonConfiguration {
    /// The targets above this one that work in the same database and name its tables alike.
    func earlierTargets(inDatabaseOf target: TargetConfiguration) -> [TargetConfiguration] {
        guard let store = target.store as? any TableStore else { return [] }
        return targets.prefix { $0.name != target.name }.filter { earlier in
            guard let other = earlier.store as? any TableStore else { return false }
            return store.sharesDatabase(with: other) && store.naming == other.naming
        }
    }
}
