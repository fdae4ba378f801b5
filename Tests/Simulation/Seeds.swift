import FoundationEssentials

/// Seeds of random lives: those of the gate, or those of `make lives` in the environment.
///
/// `LIVES=4711` replays one life, `LIVES=1...10000` many; `HOSTS_LIVES` is the same for several
/// hosts.
enum Seeds {
    static func chosen(_ name: String) -> ClosedRange<UInt64>? {
        guard let text = ProcessInfo.processInfo.environment[name] else { return nil }
        let ends = text.split(separator: "...").map { UInt64($0) }
        guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1],
            first <= last
        else { preconditionFailure("\(name)=\(text) is neither a seed nor FIRST...LAST") }
        return first...last
    }
}
