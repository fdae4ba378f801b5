/// One section of the file with every value that applies, defaults included.
package struct SettingsSection: Hashable, Sendable {
    package let scope: SettingScope
    /// The section's place in words, such as `provider.apple` or `target.app-db.table[0]`.
    package let label: String
    /// Only for ``SettingScope/column``: which column.
    package let column: String?
    /// By the key within the section.
    package internal(set) var values: [String: SettingValue]

    func text(_ name: String) -> String? {
        guard case .text(let text) = values[name] else { return nil }
        return text
    }

    func texts(_ name: String) -> [String] {
        guard case .texts(let texts) = values[name] else { return [] }
        return texts
    }

    func map(_ name: String) -> [String: String] {
        guard case .map(let entries) = values[name] else { return [:] }
        return entries
    }

    func count(_ name: String) -> Int? {
        guard case .count(let count) = values[name] else { return nil }
        return count
    }

    /// Zero when the value is missing, which happens only in a configuration that is refused.
    func duration(_ name: String) -> Duration {
        guard case .duration(let duration) = values[name] else { return .zero }
        return duration
    }

    func flag(_ name: String) -> Bool { values[name] == .boolean(true) }

    func choice<Choice: RawRepresentable>(_ name: String) -> Choice?
    where Choice.RawValue == String {
        text(name).flatMap(Choice.init(rawValue:))
    }
}
