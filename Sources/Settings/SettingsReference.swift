/// The table of settings as documentation.
///
/// `Config/expunged.toml` is exactly ``exampleFile()``; expunged.conf(5) is written by hand and
/// holds ``manualEntry(_:)`` of every setting. Tests compare both.
package enum SettingsReference {
    private static let preamble = """
        # Configuration of expunged(8). expunged.conf(5) says more about it.
        #
        # Every key is here, commented out, at its default; one without a default shows an example.
        # Durations need a unit: ms, s, m, h, d, w, largest first ("30s", "7d", "1h30m").
        # An unknown key stops the start. This file holds no secrets, only names of credentials: the
        # credential NAME is the file NAME in /etc/expunged/credentials.
        #
        # Check a change with   expunged --check-config --config /etc/expunged/expunged.toml
        # and apply it with     systemctl reload expunged

        """

    /// The text of the documented example file.
    package static func exampleFile() -> String {
        preamble + SettingScope.allCases.map(exampleSection).joined()
    }

    /// The facts about a setting in one line: type, default, range, version.
    package static func facts(_ setting: Setting) -> String {
        var facts = ["\(setting.type.name)"]
        switch setting.presence {
        case .required: facts.append("required")
        case .optional: facts.append("no default")
        case .defaultsTo(let value): facts.append("default \(value.toml)")
        }
        facts.append(setting.type.range)
        if let family = setting.family { facts.append("kind \"\(family)\" only") }
        if setting.takesEffect == .restart { facts.append("read at start only") }
        facts.append("since \(setting.since)")
        return facts.joined(separator: "; ")
    }

    /// The lines that the manual page has for a setting, in mdoc(7): the item, the facts, the text.
    package static func manualEntry(_ setting: Setting) -> String {
        let sentences = lines(setting.documentation, width: 78)
        let text = (["(\(facts(setting)))", ".br"] + sentences).map(escaped)
        return ([".It Cm \(setting.key)"] + text).joined(separator: "\n") + "\n"
    }

    private static func exampleSection(_ scope: SettingScope) -> String {
        let mark = scope.isSingle ? "" : "#"
        var text = lines(scope.documentation, width: 96).map { "\n# \($0)" }.joined()
        text += "\n\(mark)\(scope.header)\n"
        for setting in SettingsTable.settings(in: scope) {
            text += "\n"
            for line in lines(setting.documentation, width: 96) { text += "# \(line)\n" }
            for line in lines("(\(facts(setting)))", width: 96) { text += "# \(line)\n" }
            text += "#\(setting.name) = \(setting.sample.toml)\n"
        }
        return text
    }

    /// Breaks text between words.
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

    /// A line of text for mdoc(7): a backslash begins an escape, and a leading dot or quote a
    /// macro.
    private static func escaped(_ line: String) -> String {
        if line == ".br" { return ".Pp" }
        let escaped = line.replacing("\\", with: "\\e")
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&\(escaped)" : escaped
    }
}
