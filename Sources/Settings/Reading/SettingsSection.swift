/// One section of the file with every value that applies, defaults included.
///
/// Two sections are equal when they say the same, wherever they are in the file.
package struct SettingsSection: Sendable {
    package let place: SectionPlace
    /// Only for ``SettingScope/column``: which column.
    package let column: String?
    /// The value of `kind`; `nil` where there is none or an unknown one.
    package let kindName: String?
    /// What `kind` stands for.
    package let kind: (any SectionKind.Type)?
    /// The rows of the table that apply, in documentation order.
    package let settings: [Setting]
    /// By the key within the section.
    package var values: [String: SettingValue] = [:]
    /// The sections below, in the order of the file.
    package var children: [SettingsSection] = []

    /// What kind of section it is.
    package var scope: SettingScope { place.scope }
    /// The section's place in words, such as `provider.apple` or `target.app-db.table[0]`.
    package var label: String { place.label }
    /// The section and all below it, in the order of the file.
    package var tree: [SettingsSection] { [self] + children.flatMap(\.tree) }
}

extension SettingsSection: Hashable {
    /// Whether both say the same.
    package static func == (one: Self, two: Self) -> Bool {
        one.scope == two.scope && one.label == two.label && one.column == two.column
            && one.values == two.values && one.children == two.children
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(label)
        hasher.combine(values)
    }
}

/// Values that may be missing.
extension SettingsSection {
    /// A text or a choice.
    package func text(_ name: String) -> String? {
        guard case .text(let text) = values[name] else { return nil }
        return text
    }

    /// A whole number.
    package func count(_ name: String) -> Int? {
        guard case .count(let count) = values[name] else { return nil }
        return count
    }

    /// A choice as its enum.
    package func choice<Choice: RawRepresentable>(_ name: String) -> Choice?
    where Choice.RawValue == String {
        text(name).flatMap(Choice.init(rawValue:))
    }

    /// A duration without a default.
    package func optionalDuration(_ name: String) -> Duration? {
        guard case .duration(let duration) = values[name] else { return nil }
        return duration
    }
}

/// Values that are required or have a default; neutral in a configuration that is refused.
extension SettingsSection {
    /// A text or a choice.
    package func requiredText(_ name: String) -> String { text(name) ?? "" }

    /// A whole number.
    package func requiredCount(_ name: String) -> Int { count(name) ?? 0 }

    /// A choice as its enum.
    package func requiredChoice<Choice: RawRepresentable & CaseIterable>(_ name: String) -> Choice
    where Choice.RawValue == String {
        choice(name) ?? Choice.allCases[Choice.allCases.startIndex]
    }

    /// A list of texts.
    package func texts(_ name: String) -> [String] {
        guard case .texts(let texts) = values[name] else { return [] }
        return texts
    }

    /// Texts by name.
    package func map(_ name: String) -> [String: String] {
        guard case .map(let entries) = values[name] else { return [:] }
        return entries
    }

    /// A duration with a default.
    package func duration(_ name: String) -> Duration { optionalDuration(name) ?? .zero }

    /// Whether a flag is set.
    package func flag(_ name: String) -> Bool { values[name] == .boolean(true) }
}

extension SettingsSection {
    /// Every credential that the section names, with the key.
    package var credentials: [(name: String, key: String)] {
        settings.flatMap { setting -> [(name: String, key: String)] in
            switch setting.type {
            case .text(.credential), .texts(.credential, _), .map(_, .credential, _): break
            default: return []
            }
            return switch values[setting.name] {
            case .text(let name)?: [(name, setting.name)]
            case .texts(let names)?: names.map { ($0, setting.name) }
            case .map(let names)?: names.values.sorted().map { ($0, setting.name) }
            default: []
            }
        }
    }
}
