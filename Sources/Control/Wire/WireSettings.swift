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
