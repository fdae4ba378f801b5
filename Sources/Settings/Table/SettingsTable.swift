/// Every key that a configuration may have.
///
/// The reader, the example file and expunged.conf(5) derive from it.
package struct SettingsTable: Sendable {
    /// In the order of the example file and the manual page.
    package let all: [Setting]
    private let rows: [SettingScope: [Setting]]
    private let kinds: [SettingScope: [any SectionKind.Type]]

    /// - Parameters:
    ///   - all: In documentation order.
    ///   - kinds: What the values of `kind` stand for.
    package init(_ all: [Setting], kinds: [SettingScope: [any SectionKind.Type]] = [:]) {
        self.all = all
        self.kinds = kinds
        rows = Dictionary(grouping: all, by: \.scope)
    }

    /// The settings of one kind of section, in documentation order.
    package func settings(in scope: SettingScope) -> [Setting] { rows[scope] ?? [] }

    /// The kind that a section names; `nil` for one that does not exist.
    func kindName(_ entries: [String: TOMLNode], in scope: SettingScope) -> String? {
        guard case .text(let text)? = entries["kind"],
            let setting = settings(in: scope).first(where: { $0.name == "kind" }),
            case .choice(let names) = setting.type, names.contains(text)
        else { return nil }
        return text
    }

    func hasKinds(_ scope: SettingScope) -> Bool { kinds[scope] != nil }

    func kind(_ name: String?, in scope: SettingScope) -> (any SectionKind.Type)? {
        kinds[scope]?.first { $0.name == name }
    }
}

/// What one value of `kind` adds to its section.
package protocol SectionKind: Sendable {
    /// The value of `kind`.
    static var name: String { get }
    /// A phrase for expunged.conf(5).
    static var summary: String { get }
    /// Its own keys, also those of the sections below.
    static var settings: [Setting] { get }
}

extension [Setting] {
    /// The keys of a kind of section: those that all kinds have, those of each kind, and those of
    /// the sections below, once each.
    ///
    /// - Parameters:
    ///   - scope: The section with the `kind`.
    ///   - kinds: In documentation order.
    ///   - common: What every kind has.
    /// - Returns: In documentation order.
    package static func of(
        _ scope: SettingScope,
        _ kinds: [any SectionKind.Type],
        common: [Setting]
    ) -> [Setting] {
        var below: [Setting] = []
        var own: [Setting] = []
        for kind in kinds {
            for setting in kind.settings {
                if setting.scope == scope {
                    own.append(kinds.count > 1 ? setting.only(kind.name) : setting)
                } else if !below.contains(setting) {
                    below.append(setting)
                }
            }
        }
        return common + own + below
    }
}
