package import Encoding

/// One section with every value that applies, defaults included.
///
/// Equal sections say the same, wherever they are in the file.
package struct SettingsSection: Sendable {
    package internal(set) var place: SectionPlace
    package let column: String?
    package let kindName: String?
    package let kind: (any SectionKind.Type)?
    /// In documentation order.
    package let settings: [Setting]
    /// By the key within the section.
    package var values: [String: SettingValue] = [:]
    package var children: [SettingsSection] = []

    package var scope: SettingScope { place.scope }
    /// The key of the section in the one around it, such as `erase` or `verify`.
    package var groupName: String { place.groupName }
    package var label: String { place.label }
    package var tree: [SettingsSection] { [self] + children.flatMap(\.tree) }
}

extension SettingsSection: Hashable {
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
    package func text(_ name: String) -> String? {
        if case .text(let text) = values[name] { text } else { nil }
    }

    package func count(_ name: String) -> Int? {
        if case .count(let count) = values[name] { count } else { nil }
    }

    package func json(_ name: String) -> JSONValue? {
        if case .json(let value) = values[name] { value } else { nil }
    }

    package func numbers(_ name: String) -> [Int]? {
        if case .numbers(let numbers) = values[name] { numbers } else { nil }
    }

    package func choice<Choice: RawRepresentable>(_ name: String) -> Choice?
    where Choice.RawValue == String {
        text(name).flatMap(Choice.init(rawValue:))
    }

    package func optionalDuration(_ name: String) -> Duration? {
        if case .duration(let duration) = values[name] { duration } else { nil }
    }
}

/// Values that are required or have a default; neutral in a configuration that is refused.
extension SettingsSection {
    package func requiredText(_ name: String) -> String { text(name) ?? "" }

    package func requiredCount(_ name: String) -> Int { count(name) ?? 0 }

    package func requiredChoice<Choice: RawRepresentable & CaseIterable>(_ name: String) -> Choice
    where Choice.RawValue == String {
        choice(name) ?? Choice.allCases[Choice.allCases.startIndex]
    }

    package func texts(_ name: String) -> [String] {
        if case .texts(let texts) = values[name] { texts } else { [] }
    }

    package func map(_ name: String) -> [String: String] {
        if case .map(let entries) = values[name] { entries } else { [:] }
    }

    package func duration(_ name: String) -> Duration { optionalDuration(name) ?? .zero }

    package func flag(_ name: String) -> Bool { values[name] == .boolean(true) }
}

extension SettingsSection {
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

extension SettingsSection {
    /// Takes from a section of the same scope and kind what this one leaves out: values, and groups
    /// of sections below.
    package mutating func fill(from preset: SettingsSection) {
        for (key, value) in preset.values where values[key] == nil { values[key] = value }
        let own = Set(children.map(\.groupName))
        for var child in preset.children where !own.contains(child.groupName) {
            child.place = child.place.moved(from: preset.place, to: place)
            children.append(child)
        }
    }
}

extension SectionPlace {
    /// The place of a section below `parent`, as if it were below another one.
    fileprivate func moved(from parent: SectionPlace, to other: SectionPlace) -> SectionPlace {
        SectionPlace(
            scope: scope,
            path: other.path + path.dropFirst(parent.path.count),
            label: other.label + label.dropFirst(parent.label.count)
        )
    }
}

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
        case .step: "[[store.\(groupName)]]"
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
