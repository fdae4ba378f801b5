import Control
import Lifecycle

/// A replay as people read it.
enum ReplayReport {
    static func progress(_ replay: WireReplay) -> String {
        let targets = replay.targets.map { "\($0.name): \($0.found) found, \($0.erased) erased" }
        return (["\(replay.tombstones) tombstones"] + targets).joined(separator: "; ")
    }

    static func text(_ replay: WireReplay) -> String {
        var facts = Table("state", replay.state.description + (replay.isDrill ? ", a drill" : ""))
        if let since = replay.since { facts.add("since", since.rfc3339) }
        facts.add("tombstones", "\(replay.tombstones)")
        facts.add("reopened", "\(replay.reopened)")
        guard !replay.targets.isEmpty else { return facts.text }
        var targets = Table("TARGET", "FOUND", "ERASED", "ROWS", "LEFT", "CAUSE")
        for target in replay.targets {
            targets.add([
                target.name, "\(target.found)", "\(target.erased)", "\(target.rows)",
                "\(target.newer)",
                [target.error, target.detail].compactMap(\.self).joined(separator: ": "),
            ])
        }
        return facts.text + "\n" + targets.text
    }
}
