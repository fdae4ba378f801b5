/// What one look at a store found, for an operator; without personal data.
package struct TargetFindings: Hashable, Sendable {
    /// One clear sentence for each thing that forbids to purge; empty when all is well.
    package let problems: [String]
    /// One clear sentence for each thing that an operator should know, and that stops nothing.
    package let advice: [String]

    package init(problems: [String], advice: [String] = []) {
        // Two rules of one table tell the same about it.
        var seen: Set<String> = []
        self.problems = problems.filter { seen.insert($0).inserted }
        self.advice = advice.filter { seen.insert($0).inserted }
    }
}
