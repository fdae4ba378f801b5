/// One place that breaks a rule.
struct Finding: Hashable, Sendable, CustomStringConvertible {
    let rule: String
    let path: String
    let line: Int
    /// What is wrong and what to do instead.
    let advice: String

    var description: String { "\(path):\(line): \(advice) [\(rule)]" }
}
