import Engine
import Lifecycle
import Stores

/// What a check of one target reports of data that no rule deals with.
///
/// Each finding is reported once: by the first of the targets that work in one database, and not
/// as advice besides.
struct CoverageReport: Equatable {
    /// More than a person reads.
    private static let questionsMax = 1000

    /// Looks like user data that no rule deals with, or keeps deletions from ever ending.
    let unmapped: [CoverageFinding]
    /// Places of which nothing, or only a part, was read.
    let sampled: [CoverageFinding]
    /// What an operator should know besides.
    let advice: [String]

    /// `reported` is what checks of earlier targets of the same database report.
    init(
        _ found: [CoverageFinding],
        _ inspected: TargetFindings,
        reported: [CoverageFinding] = []
    ) {
        let key = { (finding: CoverageFinding) in
            "\(finding.isCovered) \(finding.isSample) \(finding.name)"
        }
        let old = Set(reported.map(key))
        let isNew = { (finding: CoverageFinding) in !old.contains(key(finding)) }
        let blocking = inspected.uncovered.filter { !$0.isSample }
        let open = found.filter { finding in
            !finding.isCovered && isNew(finding) && !blocking.contains { $0.name == finding.name }
        }
        // Advice about a column has the rule that it needs.
        let unmapped =
            blocking.filter(isNew)
            + open.map { finding in
                inspected.advice.first { inspected.advisedColumns[$0] == finding.name }
                    .map { .open(finding.name, $0) } ?? finding
            }
        sampled = (inspected.uncovered + found).filter { $0.isSample && isNew($0) }
        let known = blocking.filter { !isNew($0) }.map(\.reason)
        advice =
            known
            + inspected.advice.filter { sentence in
                !unmapped.contains { $0.name == inspected.advisedColumns[sentence] }
            }
        self.unmapped = unmapped
    }

    /// What a person is asked, see ``CoverageFinding/question``; what is more than a person reads
    /// is counted.
    var questions: [CoverageFinding] {
        let asked = unmapped.questions(by: \.question).map { group in
            guard group.count > 1, let question = group[0].question else { return group[0] }
            return CoverageFinding.open(
                group.map(\.name).joined(separator: ", "),
                question.reason
            )
        }
        let restCount = asked.count - Self.questionsMax
        guard restCount > 0 else { return asked }
        return asked.prefix(Self.questionsMax)
            + [CoverageFinding.open("\(restCount) more", "named once those above have a rule")]
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
