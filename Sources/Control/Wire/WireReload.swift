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

    package static let members: [WireMember<WireReload>] = [
        .field("reloaded_at", \.reloadedAt, "When the configuration took effect."),
        .field("changed", \.changed, "Keys that changed and are in force."),
        .field("need_restart", \.needRestart, "Keys that changed and need a restart."),
        .field("unusable", \.unusable, "Why a provider or store is paused for now."),
    ]
}

/// A reload that was refused: the configuration before it is still in force.
package struct WireRefusedReload: WireObject, Codable, Hashable {
    package var refusedAt: WallTime
    package var errors: [String]

    package init(refusedAt: WallTime, errors: [String]) {
        (self.refusedAt, self.errors) = (refusedAt, errors)
    }

    package static let members: [WireMember<WireRefusedReload>] = [
        .field("refused_at", \.refusedAt, "When."),
        .field(
            "errors",
            \.errors,
            as: .atMost(ControlLimits.reloadErrorsMax, .text),
            "Why, one line per problem; not for viewers."
        ),
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

    package static let members: [WireMember<WireSettings>] = [
        .field(
            "configuration",
            \.configuration,
            "As TOML; comments mark defaults and what has no value."
        ),
        .field("need_restart", \.needRestart, "Keys whose value waits for a restart."),
    ]
}
