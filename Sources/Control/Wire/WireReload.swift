package import Lifecycle

/// The answer to a reload that was taken.
package struct WireReload: WireObject, Codable, Hashable {
    package var reloadedAt: WallTime
    package var changed: [String]
    package var needRestart: [String]
    package var unusable: [String]

    package init(
        reloadedAt: WallTime,
        changed: [String] = [],
        needRestart: [String] = [],
        unusable: [String] = []
    ) {
        (self.reloadedAt, self.changed) = (reloadedAt, changed)
        (self.needRestart, self.unusable) = (needRestart, unusable)
    }

    package static let fields: [WireField] = [
        .required("reloaded_at", .time, "When the configuration took effect."),
        .required("changed", .list(.text), "Keys that changed and are in force."),
        .required("need_restart", .list(.text), "Keys that changed and need a restart."),
        .required("unusable", .list(.text), "Why a provider or target is paused for now."),
    ]
}
