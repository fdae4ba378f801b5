/// Every key that a configuration may have.
package struct SettingsTable: Sendable {
    package let all: [Setting]
    private let rows: [SettingScope: [Setting]]
    private let kinds: [SettingScope: [any SectionKind.Type]]

    package init(_ all: [Setting], kinds: [SettingScope: [any SectionKind.Type]] = [:]) {
        (self.all, self.kinds) = (all, kinds)
        rows = Dictionary(grouping: all, by: \.scope)
    }

    package func settings(in scope: SettingScope) -> [Setting] { rows[scope] ?? [] }

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
    static var name: String { get }
    /// For expunged.conf(5); empty where the name says it.
    static var summary: String { get }
    static var settings: [Setting] { get }
}

extension SectionKind {
    package static var summary: String { "" }
}

extension SettingsTable {
    /// What the kinds are whose names do not say it.
    package static func summaries(of kinds: [any SectionKind.Type]) -> String {
        kinds.filter { !$0.summary.isEmpty }
            .map { "\"\($0.name)\" is \($0.summary)" }.joined(separator: "; ") + "."
    }
}

extension [Setting] {
    /// The keys of a section and those below it, once each, in documentation order.
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
