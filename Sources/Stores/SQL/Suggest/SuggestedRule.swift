import Engine
import Lifecycle
import Settings

/// One rule of a suggestion, with what was found and what a person must decide.
struct SuggestedRule: Sendable {
    let rule: TableRule
    /// Sentences: what was found, and why the rule follows.
    let fact: String
    /// What the schema cannot tell; none where the facts leave no choice.
    var decisions: [String]
}

/// A configuration of rules, made from a schema and sampled values.
struct RuleSuggestion: Sendable {
    let user: SuggestionUser
    /// Parents behind children, as far as there is an order.
    var rules: [SuggestedRule] = []
    /// Data of users that no rule deals with, with the reason.
    var gaps: [String] = []
    var uncovered: [(table: String, reason: String)] = []
    var problems: [String] = []
    var extent = ""

    /// The sections for a schema, checked as the rules of a store are.
    static func text<Dialect: SQLDialect>(
        _ schema: SQLSchema,
        _ user: SuggestionUser,
        _ sample: SchemaSample,
        _ dialect: Dialect.Type
    ) -> String {
        var made = RuleSuggester.suggestion(schema, user, sample)
        made.leaveOutUnwritable()
        let rules = WorkRules(tables: made.rules.map(\.rule))
        var maker = SQLPlanMaker<Dialect>(rules, schema)
        _ = maker.make()
        made.problems = maker.found.problems.map(\.description)
        made.gaps += maker.blocking.filter(\.isOfOwnRows).map(\.sentence)
        return made.toml
    }

    /// Takes out the rules that a configuration cannot hold, and says so.
    private mutating func leaveOutUnwritable() {
        for rule in rules where !rule.rule.isWritable {
            gaps.append(
                "no rule about '\(rule.rule.table).\(rule.rule.column)', which has data of users: a"
                    + " configuration cannot hold one of the names. Rename it, or delete the data"
                    + " yourself."
            )
        }
        rules.removeAll { !$0.rule.isWritable }
    }

    /// The `[[store.table]]` sections, with comments.
    var toml: String {
        var lines: [String] = []
        lines += Self.comment("User table: '\(user.table)' by '\(user.column)'; \(user.reason).")
        if !extent.isEmpty { lines += Self.comment(extent) }
        let asked = rules.flatMap { rule in
            rule.decisions.map { (question: $0, rule: rule.rule) }
        }.grouped { $0.question }
        let decisions =
            asked.count + gaps.count + uncovered.count { $0.reason.contains("DECIDE:") }
        let times = decisions == 1 ? "once" : "\(decisions) times"
        lines += Self.comment(
            decisions == 0
                ? "Nothing is left to decide. Review each rule all the same."
                : "DECIDE stands \(times) below, wherever the schema does not say."
        )
        for problem in problems {
            lines += Self.comment("PROBLEM, which the check refuses: \(problem).")
        }
        // What takes rows away comes first.
        let common = asked.filter { $0.count > 1 }
        let isGrave = { (group: [(question: String, rule: TableRule)]) in
            group.contains { $0.rule.action == .delete }
        }
        for group in common.filter(isGrave) + common.filter({ !isGrave($0) }) {
            let places = group.map { "\($0.rule.table).\($0.rule.column)" }
            lines += Self.comment(
                "DECIDE: \(group[0].question) (\(RuleSuggester.list(places)))",
                indent: "  "
            )
        }
        let known = Set(common.map { $0[0].question })
        for rule in rules { lines += [""] + rule.lines(without: known) }
        if !gaps.isEmpty {
            lines += ["", "# Not covered by the rules above:"]
            for gap in gaps { lines += Self.comment("DECIDE: \(gap)", indent: "  ") }
        }
        if !uncovered.isEmpty {
            lines += ["", "# Tables without a rule:"]
            for (table, reason) in uncovered {
                lines += Self.comment("- \(table): \(reason)", indent: "  ")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Lines of a comment, at most 100 columns each.
    static func comment(_ text: String, indent: String = "") -> [String] {
        let plain = String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator: " "
                    default: scalar
                    }
                }
            )
        )
        var lines: [String] = []
        var line = "#"
        for word in plain.split(separator: " ") {
            if line.count > 1, line.count + 1 + word.count > 98 {
                lines.append(line)
                line = "#" + indent
            }
            line += " " + word
        }
        return lines + [line]
    }
}

extension SuggestedRule {
    /// Without questions that are asked once for several rules.
    fileprivate func lines(without known: Set<String>) -> [String] {
        var lines = RuleSuggestion.comment(fact)
        for decision in decisions where !known.contains(decision) {
            lines += RuleSuggestion.comment("DECIDE: \(decision)")
        }
        return lines + ["[[store.table]]"] + rule.tomlLines
    }
}

extension TableRule {
    /// The keys of its section.
    var tomlLines: [String] {
        var lines = ["table = \(Self.quoted(table))", "column = \(Self.quoted(column))"]
        let parent = via.map { "\($0.table).\($0.column)" }
        switch inside {
        case .text(let before, let after)?:
            lines.append("inside = \"text\"")
            let pattern = "\(before){\(parent ?? "user")}\(after)"
            lines.append("pattern = \(Self.quoted(pattern))")
        case let inside:
            if let parent { lines.append("via = \(Self.quoted(parent))") }
            lines += inside?.tomlLines ?? []
        }
        if via == nil, idType != .text { lines.append("id_type = \"\(idType.rawValue)\"") }
        if let idTemplate { lines.append("id_template = \(Self.quoted(idTemplate.text))") }
        if identifiesUser, via == nil { lines.append("identifies_user = true") }
        if !conditions.isEmpty {
            let tests = conditions.map { "\(Self.key($0.column)) = \($0.toml)" }
            lines.append("where = { \(tests.joined(separator: ", ")) }")
        }
        switch action {
        case .delete, .cascade: lines.append("action = \"delete\"")
        case .keep: lines.append("action = \"keep\"")
        case .anonymize(let masks):
            lines.append("action = \"anonymize\"")
            let sets = masks.map { "\(Self.key($0.column)) = { \($0.strategy.toml) }" }
            lines.append("set = { \(sets.joined(separator: ", ")) }")
        }
        if let reason { lines.append("keep_reason = \(Self.quoted(reason))") }
        if let creation {
            lines.append("created_at_column = \(Self.quoted(creation.column))")
            lines.append("created_at_unit = \"\(creation.unit.rawValue)\"")
        }
        return lines
    }

    /// Whether a configuration can hold the rule as it is: the reader refuses some names, and takes
    /// others apart elsewhere.
    var isWritable: Bool {
        var names = [table, column] + conditions.map(\.column)
        if let creation { names.append(creation.column) }
        names += idTemplate?.parts.map(\.column) ?? []
        names += masks.map(\.column)
        guard names.allSatisfy(TextRule.identifier.accepts) else { return false }
        if let idTemplate, IDTemplate(idTemplate.text) != idTemplate { return false }
        guard let via else { return true }
        let parent = "\(via.table).\(via.column)"
        guard TextRule.identifier.accepts(via.table), TextRule.identifier.accepts(via.column),
            ParentColumn(parent) == via
        else { return false }
        guard case .text(let before, let after)? = inside else { return true }
        return !parent.contains { "{}".contains($0) }
            && "\(before){\(parent)}\(after)".unicodeScalars.count <= 128
    }

    fileprivate static func quoted(_ text: String) -> String { SettingValue.quoted(text) }

    /// A bare key where it may be one (TOML 1.0.0, "Keys").
    static func key(_ name: String) -> String {
        let isBare =
            !name.isEmpty
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
        return isBare ? name : quoted(name)
    }
}

extension InsideValue {
    /// The keys of a place that needs no pattern.
    fileprivate var tomlLines: [String] {
        switch self {
        case .json(let path):
            ["inside = \"json\"", "path = \(SettingValue.quoted(path.text))"]
        case .array: ["inside = \"array\""]
        case .list(let separator):
            ["inside = \"list\"", "separator = \(SettingValue.quoted(separator))"]
        case .text: []
        }
    }
}

extension ColumnCondition {
    fileprivate var toml: String {
        switch test {
        case .equals(let value): "{ equals = \(value.toml) }"
        case .differs(let value): "{ not = \(value.toml) }"
        case .isNull(let isNull): "{ null = \(isNull) }"
        case .isOneOf(let values):
            "{ in = [\(values.map(SettingValue.quoted).joined(separator: ", "))] }"
        }
    }
}

extension ColumnCondition.Value {
    fileprivate var toml: String {
        switch self {
        case .text(let text): SettingValue.quoted(text)
        case .integer(let number): "\(number)"
        }
    }
}

extension MaskStrategy {
    fileprivate var toml: String {
        switch self {
        case .null: "strategy = \"null\""
        case .text(let text): "strategy = \"constant\", value = \(SettingValue.quoted(text))"
        case .integer(let number): "strategy = \"constant\", value = \(number)"
        case .hash: "strategy = \"hash\""
        case .random: "strategy = \"random\""
        case .truncate(let length): "strategy = \"truncate\", length = \(length)"
        case .remove: "strategy = \"remove\""
        }
    }
}

extension IDTemplate {
    /// As the setting spells it.
    var text: String {
        var text = texts.first ?? ""
        for (part, end) in zip(parts, texts.dropFirst()) {
            text += "{\(part.column)\(part.idType.map { ":\($0.rawValue)" } ?? "")}\(end)"
        }
        return text
    }
}
