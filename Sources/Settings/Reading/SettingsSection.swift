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
    /// Takes from another text what this section leaves out: values, and groups of sections below.
    ///
    /// - Parameters:
    ///   - text: One section of the same scope and kind, in the language of the configuration.
    ///   - name: What messages call the text.
    ///   - table: The keys of the section.
    /// - Throws: ``ConfigurationError`` with the problems of the text.
    package mutating func fill(
        from text: String,
        named name: String,
        _ table: SettingsTable
    ) throws(ConfigurationError) {
        var reader = try ConfigurationLoader.open(Array(text.utf8), file: name, table: table)
        let found = reader.named(scope)
        try reader.finish()
        guard let preset = found.first else { return }
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
