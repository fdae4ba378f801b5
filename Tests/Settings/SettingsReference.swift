@testable import Settings

/// The table of settings as documentation; tests compare the example file and the manual page.
enum SettingsReference {
    /// One list of expunged.conf(5).
    struct ManualList: Sendable {
        let heading: String
        /// In mdoc(7).
        let items: [String]
    }

    private struct Entry {
        let setting: Setting
        var kinds: [String]
    }

    private static let preamble = """
        # Every key of expunged(8), commented out, at its default; one without a default shows an
        # example. expunged.conf(5) describes the types. An unknown key stops the start. This file
        # holds no secrets: the credential NAME is the file NAME in /etc/expunged/credentials.

        """

    static func exampleFile(_ table: SettingsTable) -> String {
        preamble + SettingScope.allCases.map { exampleSection($0, table) }.joined()
    }

    /// The types of text, then the keys of each kind of section.
    static func manualLists(_ table: SettingsTable) -> [ManualList] {
        [textTypes(table)] + SettingScope.allCases.flatMap { keys(of: $0, table) }
    }

    /// Type, limits, default and when it takes effect.
    static func facts(_ setting: Setting) -> String {
        var facts = [setting.type.summary]
        switch setting.presence {
        case .required: facts.append("required")
        case .optional: break
        case .defaultsTo(let value): facts.append("default \(value.toml)")
        }
        if setting.takesEffect == .restart { facts.append("restart") }
        return facts.joined(separator: "; ")
    }

    private static func textTypes(_ table: SettingsTable) -> ManualList {
        var rules: [TextRule] = []
        for rule in table.all.flatMap(\.type.rules) where !rules.contains(rule) {
            rules.append(rule)
        }
        let items = rules.map { rule in
            let text = lines(rule.requirement, width: manualWidth).map(escaped)
            return ".It \(rule.title)\n\(text.joined(separator: "\n"))\n"
        }
        return ManualList(heading: "Types of text", items: items)
    }

    /// The keys of all kinds or of several under the section's header, then those of each kind.
    private static func keys(of scope: SettingScope, _ table: SettingsTable) -> [ManualList] {
        let entries = entries(of: scope, table)
        let shared = entries.filter { $0.kinds.count != 1 }
        // A bracket at the end of an argument is a delimiter, unless something follows.
        var lists = [ManualList(heading: scope.header + "\\&", items: shared.map(manualItem))]
        var kinds: [String] = []
        for kind in entries.flatMap(\.kinds) where !kinds.contains(kind) { kinds.append(kind) }
        for kind in kinds {
            let own = entries.filter { $0.kinds == [kind] }
            guard !own.isEmpty else { continue }
            let heading = "\(scope.header) of kind \\(dq\(kind)\\(dq"
            lists.append(ManualList(heading: heading, items: own.map(manualItem)))
        }
        return lists
    }

    private static func entries(of scope: SettingScope, _ table: SettingsTable) -> [Entry] {
        var entries: [Entry] = []
        for setting in table.settings(in: scope) where !isKeyOfStore(setting, table) {
            let twin = entries.firstIndex {
                $0.setting.kind != nil && $0.setting.key == setting.key
                    && $0.setting.documentation == setting.documentation
                    && facts($0.setting) == facts(setting)
            }
            if let twin, let kind = setting.kind {
                entries[twin].kinds.append(kind)
            } else {
                entries.append(Entry(setting: setting, kinds: setting.kind.map { [$0] } ?? []))
            }
        }
        return entries
    }

    /// The page lists the names of such keys of the directory, and describes them once.
    private static func isKeyOfStore(_ setting: Setting, _ table: SettingsTable) -> Bool {
        setting.scope == .directory
            && table.settings(in: .store).contains {
                $0.name == setting.name && $0.documentation == setting.documentation
                    && facts($0) == facts(setting)
            }
    }

    private static func manualItem(_ entry: Entry) -> String {
        var facts = facts(entry.setting)
        if entry.kinds.count > 1 {
            facts += "; kinds \(entry.kinds.joined(separator: ", "))"
        }
        let text =
            lines("(\(facts))", width: manualWidth)
            + sentences(entry.setting.documentation).flatMap { lines($0, width: manualWidth) }
        return ([".It Cm \(entry.setting.key)"] + text.map(escaped)).joined(separator: "\n") + "\n"
    }

    /// What mandoc(1) -T lint asks of a page: lines of 80 bytes, and a new one for each sentence.
    private static let manualWidth = 78

    private static func sentences(_ text: String) -> [String] {
        var sentences: [[Substring]] = [[]]
        for word in text.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
            sentences[sentences.count - 1].append(word)
            let end = word.last.map { ")\"".contains($0) ? word.dropLast() : word[...] }
            if let last = end?.last, ".?!".contains(last) { sentences.append([]) }
        }
        return sentences.filter { !$0.isEmpty }.map { $0.joined(separator: " ") }
    }

    private static func exampleSection(
        _ scope: SettingScope,
        _ table: SettingsTable
    ) -> String {
        let mark = scope.isSingle ? "" : "#"
        var text = lines(scope.documentation, width: 96).map { "\n# \($0)" }.joined()
        text += "\n\(mark)\(scope.header)\n"
        for setting in table.settings(in: scope) {
            let kind = setting.kind.map { "kind \"\($0)\"; " } ?? ""
            text += "\n"
            for line in lines(setting.documentation, width: 96) { text += "# \(line)\n" }
            for line in lines("(\(kind)\(facts(setting)))", width: 96) { text += "# \(line)\n" }
            text += "#\(setting.name) = \(setting.sample.toml)\n"
        }
        return text
    }

    private static func lines(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }

    /// In mdoc(7) a backslash begins an escape, and a leading dot or quote a macro.
    private static func escaped(_ line: String) -> String {
        let escaped = line.replacing("\\", with: "\\e")
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&\(escaped)" : escaped
    }
}

extension SettingType {
    var summary: String {
        switch self {
        case .text(let rule): rule.title
        case .texts(let rule, let count): "list of \(rule.title), \(Self.bounds(count))"
        case .map(let name, let value, let count):
            "map of \(name.title) to \(value.title), \(Self.bounds(count))"
        case .choice: range
        case .boolean: "boolean"
        case .duration: "duration, \(range)"
        case .count: "count, \(range)"
        case .constant: "constant"
        case .numbers: "list, \(range)"
        case .json: "JSON value, written in TOML"
        }
    }

    private static func bounds(_ count: ClosedRange<Int>) -> String {
        "\(count.lowerBound) to \(count.upperBound)"
    }

    var rules: [TextRule] {
        switch self {
        case .text(let rule), .texts(let rule, _): [rule]
        case .map(let name, let value, _): [name, value]
        case .choice, .duration, .count, .boolean, .constant, .numbers, .json: []
        }
    }
}
