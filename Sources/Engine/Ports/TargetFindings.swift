package import Lifecycle

/// What one look at a store found, for an operator; without personal data.
package struct TargetFindings: Hashable, Sendable {
    /// One clear sentence for each thing that forbids to purge; empty when all is well.
    package let problems: [String]
    /// One clear sentence for each thing that an operator should know, and that stops nothing.
    package let advice: [String]
    /// Columns without a rule that keep deletions of some users from ever ending; each reason has
    /// the rule that mends it. And tables that the check may not see.
    package let uncovered: [CoverageFinding]

    package init(
        problems: [String],
        advice: [String] = [],
        uncovered: [CoverageFinding] = []
    ) {
        // Two rules of one table tell the same about it.
        var seen: Set<String> = []
        self.problems = problems.filter { seen.insert($0).inserted }
        self.advice = advice.filter { seen.insert($0).inserted }
        self.uncovered = uncovered.filter { seen.insert("\($0.name) \($0.reason)").inserted }
    }
}
