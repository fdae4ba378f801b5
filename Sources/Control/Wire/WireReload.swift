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
        .required("unusable", .list(.text), "Why a provider or store is paused for now."),
    ]
}

/// A reload that was refused: the configuration before it is still in force.
package struct WireRefusedReload: WireObject, Codable, Hashable {
    package var refusedAt: WallTime
    package var errors: [String]

    package init(refusedAt: WallTime, errors: [String]) {
        (self.refusedAt, self.errors) = (refusedAt, errors)
    }

    private static let errorList = WireFieldType.atMost(ControlLimits.reloadErrorsMax, .text)

    package static let fields: [WireField] = [
        .required("refused_at", .time, "When."),
        .required("errors", errorList, "Why, one line per problem; not for viewers."),
    ]
}

/// Which settings to show.
package enum SettingsView: String, Sendable, CaseIterable {
    case all
    case nonDefault = "non_default"
    /// All, without free texts, names of credentials, paths of URLs and home directories.
    case shareable
}

/// The configuration in force.
package struct WireSettings: WireObject, Codable, Hashable {
    package var configuration: String
    package var needRestart: [String]

    package init(configuration: String, needRestart: [String] = []) {
        (self.configuration, self.needRestart) = (configuration, needRestart)
    }

    package static let fields: [WireField] = [
        .required("configuration", .text, "As TOML; comments mark defaults and what has no value."),
        .required("need_restart", .list(.text), "Keys whose value waits for a restart."),
    ]
}
