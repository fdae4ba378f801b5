import Lifecycle

/// Reads one section against the table of settings.
struct SectionReader {
    let place: SectionPlace
    let table: SettingsTable
    /// `nil` until it is known to be good.
    let kind: String?

    /// Checks every key and fills in defaults; the section has the values that are good.
    func read(
        _ entries: [String: TOMLNode],
        column: String? = nil,
        log: inout ProblemLog
    ) -> SettingsSection {
        let settings = table.settings(in: place.scope)
        var section = SettingsSection(
            place: place,
            column: column,
            kindName: kind,
            kind: table.kind(kind, in: place.scope),
            settings: settings.filter(applies)
        )
        for (name, node) in inFileOrder(entries, locations: log.locations) {
            guard let setting = self.setting(name, among: settings) else {
                reportUnknown(name, settings: settings, log: &log)
                continue
            }
            if let needed = setting.kind, let kind, needed != kind {
                log.report(
                    .unknownKey,
                    name,
                    in: place,
                    "kind \"\(kind)\" has no such key; it belongs to kind \"\(needed)\""
                )
                continue
            }
            section.values[name] = value(of: setting, node, log: &log)
        }
        for setting in settings where entries[setting.name] == nil && applies(setting) {
            fill(setting, into: &section, log: &log)
        }
        // A default never contradicts what is given: connecting is a part of the whole call.
        if entries["timeout_connect"] == nil,
            case .duration(let total) = section.values["timeout_total"],
            total < section.duration("timeout_connect")
        {
            section.values["timeout_connect"] = .duration(total)
        }
        return section
    }

    private func setting(_ name: String, among settings: [Setting]) -> Setting? {
        settings.first { $0.name == name && applies($0) }
            ?? settings.first { $0.name == name }
    }

    private func inFileOrder(
        _ entries: [String: TOMLNode],
        locations: KeyLocations
    ) -> [(name: String, node: TOMLNode)] {
        entries.filter { entry in !place.scope.children.contains { $0.name == entry.key } }
            .map {
                (name: $0.key, node: $0.value, line: locations.line(of: place.path(of: $0.key)))
            }
            .sorted { ($0.line, $0.name) < ($1.line, $1.name) }
            .map { (name: $0.name, node: $0.node) }
    }

    /// A key of one kind is filled in only when the kind is known: one problem is enough.
    private func applies(_ setting: Setting) -> Bool {
        setting.kind == nil || setting.kind == kind
    }

    private func fill(
        _ setting: Setting,
        into section: inout SettingsSection,
        log: inout ProblemLog
    ) {
        switch setting.presence {
        case .defaultsTo(let value):
            section.values[setting.name] = value
        case .optional:
            break
        case .required(let example):
            log.report(
                .missingKey,
                setting.name,
                in: place,
                "it must be given; for example \(setting.name) = \(example.toml)"
            )
        }
    }

    private func reportUnknown(_ name: String, settings: [Setting], log: inout ProblemLog) {
        let offered = settings.filter { kind == nil || applies($0) }
        let known = offered.map(\.name) + place.scope.children.map(\.name)
        let advice = log.isFull ? "there is no such key" : Self.advice(name, known: known)
        log.report(.unknownKey, name, in: place, advice)
    }

    static func advice(_ name: String, known: [String]) -> String {
        guard let nearest = NearestName.find(name, in: known) else {
            return "there is no such key; known here: \(known.joined(separator: ", "))"
        }
        return "there is no such key; did you mean '\(nearest)'?"
    }
}

// MARK: - Values

extension SectionReader {
    private func value(
        of setting: Setting,
        _ node: TOMLNode,
        log: inout ProblemLog
    ) -> SettingValue? {
        switch (setting.type, node) {
        case (.boolean, .boolean(let value)):
            return .boolean(value)
        case (.constant, .integer(let number)):
            return .count(number)
        case (.constant, .text(let text)):
            guard text.unicodeScalars.count <= 1024 else {
                return refuse(.malformed, setting, text, log: &log)
            }
            return .text(text)
        case (.count(let range, _), .integer(let count)):
            return range.contains(count)
                ? .count(count) : refuse(.outOfRange, setting, String(count), log: &log)
        case (.choice(let names), .text(let text)):
            return names.contains(text)
                ? .text(text) : refuse(.unknownValue, setting, text, log: &log)
        case (.text(let rule), .text(let text)):
            return rule.accepts(text) ? .text(text) : refuse(.malformed, setting, text, log: &log)
        case (.texts(let rule, let count), .array(let nodes)):
            return texts(nodes, setting: setting, rule: rule, count: count, log: &log)
        case (.map(let nameRule, let rule, let count), .table(let entries)):
            return map(entries, setting: setting, rules: (nameRule, rule), count: count, log: &log)
        case (.numbers(let range, let count), .array(let nodes)):
            return numbers(nodes, setting: setting, ranges: (range, count), log: &log)
        case (.json, _):
            guard let json = node.json else {
                return refuse(.malformed, setting, node.typeName, log: &log)
            }
            return .json(json)
        case (.duration(let range), .text(let text)):
            return duration(text, setting: setting, range: range, log: &log)
        default:
            log.report(
                .wrongType,
                setting.name,
                in: place,
                "it is \(node.typeName); write \(setting.name) = \(setting.sample.toml) or the like"
            )
            return nil
        }
    }

    private func refuse(
        _ kind: ConfigurationProblem.Kind,
        _ setting: Setting,
        _ text: String,
        log: inout ProblemLog
    ) -> SettingValue? {
        log.report(
            kind,
            setting.name,
            in: place,
            value: setting.isSecret ? nil : text,
            "it must be \(setting.type.range)"
        )
        return nil
    }

    private func duration(
        _ text: String,
        setting: Setting,
        range: ClosedRange<Duration>,
        log: inout ProblemLog
    ) -> SettingValue? {
        guard let duration = DurationText.parse(text) else {
            log.report(
                .malformed,
                setting.name,
                in: place,
                value: text,
                "write a duration with units, largest first, such as \"30s\", \"7d\" or \"1h30m\" "
                    + "(ms, s, m, h, d, w)"
            )
            return nil
        }
        return range.contains(duration)
            ? .duration(duration) : refuse(.outOfRange, setting, text, log: &log)
    }

    private func numbers(
        _ nodes: [TOMLNode],
        setting: Setting,
        ranges: (value: ClosedRange<Int>, count: ClosedRange<Int>),
        log: inout ProblemLog
    ) -> SettingValue? {
        guard ranges.count.contains(nodes.count) else {
            return refuse(.outOfRange, setting, "\(nodes.count) entries", log: &log)
        }
        var numbers: [Int] = []
        for node in nodes {
            guard case .integer(let number) = node, ranges.value.contains(number) else {
                return refuse(.outOfRange, setting, node.typeName, log: &log)
            }
            numbers.append(number)
        }
        return .numbers(numbers)
    }

    private func map(
        _ entries: [String: TOMLNode],
        setting: Setting,
        rules: (name: TextRule, value: TextRule),
        count: ClosedRange<Int>,
        log: inout ProblemLog
    ) -> SettingValue? {
        guard count.contains(entries.count) else {
            return refuse(.outOfRange, setting, "\(entries.count) entries", log: &log)
        }
        var texts: [String: String] = [:]
        for (name, node) in entries.sorted(by: { $0.key < $1.key }) {
            guard rules.name.accepts(name), case .text(let text) = node, rules.value.accepts(text)
            else { return refuse(.malformed, setting, name, log: &log) }
            texts[name] = text
        }
        return .map(texts)
    }

    private func texts(
        _ nodes: [TOMLNode],
        setting: Setting,
        rule: TextRule,
        count: ClosedRange<Int>,
        log: inout ProblemLog
    ) -> SettingValue? {
        guard count.contains(nodes.count) else {
            return refuse(.outOfRange, setting, "\(nodes.count) entries", log: &log)
        }
        var texts: [String] = []
        for (index, node) in nodes.enumerated() {
            let key = place.key("\(setting.name)[\(index)]")
            let path = place.path(of: setting.name) + [.index(index)]
            guard case .text(let text) = node else {
                log.add(
                    .wrongType,
                    key: key,
                    at: path,
                    "it is \(node.typeName), not a text in quotes"
                )
                continue
            }
            let shown = setting.isSecret ? nil : text
            guard rule.accepts(text) else {
                log.add(
                    .malformed,
                    key: key,
                    at: path,
                    value: shown,
                    "it must be \(rule.requirement)"
                )
                continue
            }
            guard !texts.contains(text) else {
                log.add(.duplicate, key: key, at: path, value: shown, "it is in the list already")
                continue
            }
            texts.append(text)
        }
        return .texts(texts)
    }
}

/// Where a section is in the file.
package struct SectionPlace: Sendable {
    package let scope: SettingScope
    let path: [KeyStep]
    /// Such as `provider.apple`; by number, such as `provider[0]`, while it has no usable name.
    package let label: String

    var groupName: String {
        let names = path.compactMap { step in
            if case .key(let name) = step { name } else { nil }
        }
        return names.last ?? scope.rawValue
    }

    func path(of name: String) -> [KeyStep] { path + [.key(name)] }

    func key(_ name: String) -> String { "\(label).\(name)" }
}
