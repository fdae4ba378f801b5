/// Writes sections as they apply, as TOML with comments; the complete text loads as they did.
package struct EffectiveConfiguration: Sendable {
    /// Whether defaults, marked as such, and keys without a value are written, too.
    private let isComplete: Bool
    /// Whether the text may leave the machine: then it has only what ``SharedForm`` shows.
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
            if value == setting.defaultValue {
                return isComplete ? "\(setting.name) = \(value.toml)  # default" : nil
            }
            let shared = setting.isSecret ? nil : setting.type.shared(value)
            guard let shown = isShareable ? shared : value else {
                return "# \(setting.name): left out"
            }
            return "\(setting.name) = \(shown.toml)"
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
    /// What of a value is no secret and names no person.
    fileprivate func shared(_ value: SettingValue) -> SettingValue? {
        switch (self, value) {
        case (.boolean, _), (.choice, _), (.count, _), (.duration, _), (.numbers, _): return value
        case (.text(let rule), .text(let text)): return rule.shared.text(text).map { .text($0) }
        case (.texts(let rule, _), .texts(let texts)):
            let shown = texts.compactMap(rule.shared.text)
            return shown.count == texts.count ? .texts(shown) : nil
        default: return nil
        }
    }
}
