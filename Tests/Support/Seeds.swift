import FoundationEssentials

/// Seeds that a campaign, or whoever repeats a failure, sets in the environment.
package enum Seeds {
    /// `17` or `1...1000`; `nil` without the variable.
    package static func chosen(_ name: String) -> ClosedRange<UInt64>? {
        guard let text = ProcessInfo.processInfo.environment[name] else { return nil }
        let ends = text.split(separator: "...").map { UInt64($0) }
        guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1],
            first <= last
        else { preconditionFailure("\(name)=\(text) is neither a seed nor FIRST...LAST") }
        return first...last
    }
}
