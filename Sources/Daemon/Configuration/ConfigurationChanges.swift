import Settings
import Stores

/// Finds what differs between two configurations, in words for an operator.
package enum ConfigurationChanges {
    /// Compares two configurations key by key.
    ///
    /// - Returns: Full keys such as `provider.apple.concurrency`, in the order of the new file. A
    ///   section that is new or gone is named as a whole (`target.app-db`); where only the order of
    ///   targets changed, that is `target`.
    package static func find(
        from old: DaemonConfiguration,
        to new: DaemonConfiguration
    ) -> [String] {
        let before = old.sections.reduce(into: [:]) { $0[$1.label] = $1 }
        let labels = Set(new.sections.map(\.label))
        var changed: [String] = []
        for section in new.sections {
            guard let former = before[section.label] else {
                changed.append(section.label)
                continue
            }
            changed += section.settings
                .filter { former.values[$0.name] != section.values[$0.name] }
                .map { "\(section.label).\($0.name)" }
        }
        changed += old.sections.map(\.label).filter { !labels.contains($0) }
        let (order, formerOrder) = (new.targets.map(\.name), old.targets.map(\.name))
        if order != formerOrder, Set(order) == Set(formerOrder) { changed.append("target") }
        return changed
    }
}
