package import Lifecycle

/// One thing that forbids to purge; without personal data.
package struct StoreProblem: Hashable, Sendable, CustomStringConvertible {
    /// One clear sentence.
    package let text: String
    /// The section of the rule, below that of the store, such as `table[0]`; `nil` for the store.
    package let section: String?
    /// The statement that mends it, where one does.
    package let remedy: String?

    package init(_ text: String, in section: String? = nil, remedy: String? = nil) {
        (self.text, self.section, self.remedy) = (text, section, remedy)
    }

    package var description: String { remedy.map { "\(text); run: \($0)" } ?? text }
}

/// What one look at a store found, for an operator; without personal data.
package struct StoreFindings: Hashable, Sendable {
    /// Empty when all is well.
    package let problems: [StoreProblem]
    /// One clear sentence for each thing that an operator should know, and that stops nothing.
    package let advice: [String]
    /// The columns for which sentences of the advice have a rule, such as `items.order_id`.
    package let advisedColumns: [String: String]
    /// Columns without a rule that keep deletions of some users from ever ending, each with the
    /// rule that mends it, and tables that the check may not see.
    package let uncovered: [CoverageFinding]

    package init(
        found problems: [StoreProblem],
        advice: [String] = [],
        advisedColumns: [String: String] = [:],
        uncovered: [CoverageFinding] = []
    ) {
        self.advisedColumns = advisedColumns
        // Two rules of one table report the same about it.
        var seen: Set<String> = []
        self.problems = problems.filter { seen.insert($0.description).inserted }
        self.advice = advice.filter { seen.insert($0).inserted }
        self.uncovered = uncovered.filter { seen.insert("\($0.name) \($0.reason)").inserted }
    }

    /// Problems of the store, one sentence each.
    package init(problems: [String], advice: [String] = []) {
        self.init(found: problems.map { StoreProblem($0) }, advice: advice)
    }
}
