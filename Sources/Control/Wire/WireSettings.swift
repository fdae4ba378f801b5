package import Lifecycle

extension ReloadResult: WireObject {
    package static let schemaName = "Reload"
    package static let members: [WireMember<ReloadResult>] = [
        .field("reloaded_at", \.reloadedAt, "When the configuration took effect."),
        .field("changed", \.changed, "Keys that changed and are in force."),
        .field("need_restart", \.needRestart, "Keys that changed and need a restart."),
        .field("unusable", \.unusable, "Why a provider or store is paused for now."),
    ]
}

extension RefusedReload: WireObject {
    package static let members: [WireMember<RefusedReload>] = [
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
