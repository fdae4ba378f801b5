/// Writes sections as they apply, as TOML with comments; the complete text loads as they did.
package struct EffectiveConfiguration: Sendable {
    /// Whether defaults, marked as such, and keys without a value are written, too.
    private let isComplete: Bool
    /// Whether the text may leave the machine: then it has no free texts and no secret keys.
    private let isShareable: Bool

    package init(isComplete: Bool = true, isShareable: Bool = false) {
        (self.isComplete, self.isShareable) = (isComplete, isShareable)
    }

    package func text(of sections: [SettingsSection]) -> String {
        sections.compactMap { section in
            let lines = lines(of: section)
            // A section that may be repeated says something without any key.
            guard isComplete || !lines.isEmpty || !section.scope.isSingle else { return nil }
            return ([section.header] + lines).joined(separator: "\n") + "\n"
        }.joined(separator: "\n")
    }

    /// The keys of one section in the order of the table of settings.
    package func lines(of section: SettingsSection) -> [String] {
        section.settings.compactMap { setting in
            guard let value = section.values[setting.name] else {
                return isComplete ? "# \(setting.name): not set" : nil
            }
            let line = "\(setting.name) = \(value.toml)"
            if value == setting.defaultValue { return isComplete ? line + "  # default" : nil }
            let isLeftOut = isShareable && (setting.isSecret || !setting.type.isShareable)
            return isLeftOut ? "# \(setting.name): left out" : line
        }
    }
}

extension SettingsSection {
    fileprivate var header: String {
        switch scope {
        case .step: "[[target.\(groupName)]]"
        case .column, .condition:
            scope.header.replacing("COLUMN", with: SettingValue.quoted(column ?? ""))
        default: scope.header
        }
    }
}

extension SettingType {
    /// Whether no value can be a secret or name a person.
    fileprivate var isShareable: Bool {
        switch self {
        case .boolean, .choice, .count, .duration, .numbers: true
        case .text(let rule), .texts(let rule, _): rule.isShareable
        case .map(let name, let value, _): name.isShareable && value.isShareable
        case .constant, .json: false
        }
    }
}

extension TextRule {
    /// A rule that is new is left out until it is listed here.
    fileprivate var isShareable: Bool {
        let rules: [TextRule] = [
            .name, .keyReference, .vaultKeyID, .group, .path, .url, .origin, .host, .identifier,
            .loopback, .messageTopic, .duration,
        ]
        return rules.contains(self)
    }
}
