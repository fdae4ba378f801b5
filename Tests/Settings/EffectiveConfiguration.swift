import Daemon
import Settings

/// Writes a configuration as it applies, defaults included.
enum EffectiveConfiguration {
    /// The text loads to an equal configuration.
    static func render(_ configuration: DaemonConfiguration) -> String {
        configuration.sections.map(render).joined(separator: "\n")
    }

    private static func render(_ section: SettingsSection) -> String {
        var text = header(section) + "\n"
        for setting in section.settings {
            guard let value = section.values[setting.name] else { continue }
            text += "\(setting.name) = \(value.toml)\n"
        }
        return text
    }

    private static func header(_ section: SettingsSection) -> String {
        guard section.scope != .step else { return "[[target.\(section.groupName)]]" }
        guard let column = section.column else { return section.scope.header }
        return "[target.table.set.\(SettingValue.quoted(column))]"
    }
}
