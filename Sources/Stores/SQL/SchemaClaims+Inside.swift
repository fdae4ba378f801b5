import Lifecycle
import Settings

extension TableRule {
    /// Reads `inside` and what belongs to it, and reports what does not fit together.
    mutating func readInside(_ section: SettingsSection, _ problems: inout SectionProblems) {
        let name: InsideValue.Name? = section.choice("inside")
        for (key, owner) in [
            ("path", InsideValue.Name.json), ("separator", .list), ("pattern", .text),
        ] {
            problems.require(
                key,
                in: section,
                if: name == owner,
                missing: "inside = \"\(owner.rawValue)\" needs it",
                needless: "only inside = \"\(owner.rawValue)\" has it"
            )
        }
        switch name {
        case .json: inside = section.text("path").flatMap { JSONPath($0) }.map { .json($0) }
        case .array: inside = .array
        case .list: inside = section.text("separator").map { .list(separator: $0) }
        case .text:
            let pattern = section.text("pattern").flatMap { InsidePattern($0) }
            inside = pattern.map { .text(before: $0.before, after: $0.after) }
            if via != nil {
                let cause = "pattern names the value, such as {users.name}"
                problems.report(.contradiction, "via", in: section.place, cause)
            }
            via = pattern?.column
        case nil: break
        }
        if let name { checkType(name, section, &problems) }
        for column in section.children where column.scope == .column {
            checkPart(column, name, &problems)
        }
    }

    private func checkType(
        _ name: InsideValue.Name,
        _ section: SettingsSection,
        _ problems: inout SectionProblems
    ) {
        if idTemplate != nil {
            let cause = "an id inside a value is found as a whole"
            problems.report(.contradiction, "id_template", in: section.place, cause)
        }
        let types: Set<IDType> = name == .array ? [.text, .integer, .uuid] : [.text, .integer]
        if via == nil, !types.contains(idType) {
            let names = types.map { "\"\($0.rawValue)\"" }.sorted().joined(separator: " or ")
            let cause = "inside = \"\(name.rawValue)\" finds ids by \(names)"
            problems.report(.contradiction, "id_type", in: section.place, cause)
        }
    }

    /// What is done to one column of `set`.
    private func checkPart(
        _ section: SettingsSection,
        _ name: InsideValue.Name?,
        _ problems: inout SectionProblems
    ) {
        let strategy = section.text("strategy") ?? ""
        let mask = ColumnMask(column: section.column ?? "", strategy: .remove)
        let path = section.text("path").flatMap { JSONPath($0) }
        let isOwn = name != nil && changesPart(mask)
        guard isOwn || path != nil else {
            if strategy == MaskStrategy.Name.remove.rawValue {
                let cause = "it takes out a part: write path, or use the column of inside"
                problems.report(.contradiction, "strategy", in: section.place, cause)
            }
            return
        }
        let isJSON = !isOwn || name == .json
        let names = [MaskStrategy.Name.constant, .remove] + (isJSON ? [.null] : [])
        if !names.contains(where: { $0.rawValue == strategy }) {
            let list = names.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
            let cause = "a part of a value can be changed by \(list)"
            problems.report(.contradiction, "strategy", in: section.place, cause)
        }
        guard isOwn else { return }
        switch (inside, path) {
        case (.json(let found)?, let path?) where !path.leads(to: found):
            let cause = "it must be the path of the rule, or lead to it"
            problems.report(.contradiction, "path", in: section.place, cause)
        case (.array?, .some), (.list?, .some), (.text?, .some):
            let cause = "only JSON has paths"
            problems.report(.contradiction, "path", in: section.place, cause)
        case (.list(let separator)?, nil):
            guard section.text("value")?.contains(separator) ?? false else { return }
            let cause = "it would be several elements, since it has the separator in it"
            problems.report(.contradiction, "value", in: section.place, cause)
        default: break
        }
    }
}
