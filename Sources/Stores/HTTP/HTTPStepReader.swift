import Encoding
import Settings

/// Reads the steps of one group, and refuses those that could harm.
struct HTTPStepReader {
    /// `[[store.erase]]` and its siblings.
    enum Group: String {
        case erase, verify, users
    }

    let group: Group
    let constants: [String: String]
    private(set) var steps: [HTTPStep] = []

    mutating func read(
        _ sections: [SettingsSection],
        _ problems: inout SectionProblems
    ) -> [HTTPStep] {
        let own = sections.filter { $0.scope == .step && $0.groupName == group.rawValue }
        for section in own {
            let step = step(section, &problems)
            // One problem is enough: without them nothing else about the step makes sense.
            if section.text("method") != nil, section.text("path") != nil {
                check(step, section, &problems)
            }
            steps.append(step)
        }
        if group == .users, own.count > 1 {
            problems.report(.contradiction, "users", "one step lists all users")
        }
        return steps
    }

    // MARK: Reading

    private func step(_ section: SettingsSection, _ problems: inout SectionProblems) -> HTTPStep {
        let method: HTTPStep.Method = section.requiredChoice("method")
        var step = HTTPStep(
            name: section.requiredText("name"),
            method: method,
            path: HTTPTemplate(section.requiredText("path")),
            effect: effect(section, method, &problems)
        )
        step.query = Self.fields(section.map("query"))
        step.headers = Self.fields(section.map("headers"))
        if let json = section.json("json") { step.body = .json(HTTPJSON(json)) }
        if section.values["form"] != nil { step.body = .form(Self.fields(section.map("form"))) }
        step.forEach = section.text("for_each")
        step.unless = section.text("unless")
        step.status = Set(section.numbers("status") ?? Array(HTTPStep.statusDefault))
        step.gone = Set(section.numbers("gone") ?? [])
        step.goneIf = conditions(section.map("gone_if"))
        step.items = pointer(section.text("items"))
        step.id = pointer(section.text("id"))
        step.match = conditions(section.map("match"))
        step.more = section.text("more").flatMap { JSONPointer($0) }
        step.count = section.text("count").flatMap { JSONPointer($0) }
        step.until = conditions(section.map("until"))
        step.fails = conditions(section.map("fails"))
        step.every = section.optionalDuration("every") ?? step.every
        step.promised = section.optionalDuration("promised")
        step.keeps = section.text("keeps")
        step.paging = paging(section, step)
        return step
    }

    private func effect(
        _ section: SettingsSection,
        _ method: HTTPStep.Method,
        _ problems: inout SectionProblems
    ) -> HTTPStep.Effect {
        if let effect: HTTPStep.Effect = section.choice("effect") { return effect }
        switch (group, method) {
        case (.verify, _), (.users, _), (_, .get), (_, .head): return .reads
        case (.erase, .put), (.erase, .delete): return .repeatable
        case (.erase, .post), (.erase, .patch):
            if !problems.isWritten("effect", in: section.place) {
                problems.report(
                    .missingKey,
                    "effect",
                    in: section.place,
                    "a \(method.rawValue) must say what making it again does: reads, repeatable or"
                        + " once"
                )
            }
            return .repeatable
        }
    }

    private func paging(_ section: SettingsSection, _ step: HTTPStep) -> HTTPStep.Paging? {
        let names = step.templates.flatMap(\.text.names)
        if names.contains(.page) { return .number(first: section.count("first_page") ?? 1) }
        guard let next = section.text("next") else { return nil }
        if next == "link-header" { return .linkHeader }
        guard let pointer = JSONPointer(next) else { return nil }
        return names.contains(.cursor) ? .cursor(pointer) : .link(pointer)
    }

    private static func fields(_ map: [String: String]) -> [HTTPStep.Field] {
        map.sorted { $0.key < $1.key }.map {
            HTTPStep.Field(name: $0.key, value: HTTPTemplate($0.value))
        }
    }

    private func conditions(_ map: [String: String]) -> [HTTPStep.Condition] {
        map.sorted { $0.key < $1.key }.compactMap { pointer, value in
            self.pointer(pointer).map {
                HTTPStep.Condition(pointer: $0, value: HTTPTemplate(value))
            }
        }
    }

    /// With the operator's `values` in it.
    private func pointer(_ text: String?) -> JSONPointer? {
        let text = constants.reduce(text) { text, constant in
            text?.replacing("{\(constant.key)}", with: constant.value)
        }
        return text.flatMap { JSONPointer($0) }
    }

    // MARK: Checks

    private func check(
        _ step: HTTPStep,
        _ section: SettingsSection,
        _ problems: inout SectionProblems
    ) {
        func report(_ key: String, _ cause: String) {
            problems.report(.contradiction, key, in: section.place, cause)
        }
        if steps.contains(where: { $0.name == step.name }) {
            report("name", "an earlier step has the same name")
        }
        if section.values["json"] != nil, section.values["form"] != nil {
            report("form", "a call has one body: json or form")
        }
        if group != .erase, step.effect.changes {
            report("effect", "only [[store.erase]] changes anything")
        }
        checkOrder(step, report)
        checkPlaceholders(step, report)
        checkMeaning(step, report)
    }

    private func checkOrder(_ step: HTTPStep, _ report: (String, String) -> Void) {
        if let source = step.forEach {
            let found = steps.first { $0.name == source }
            if found?.id == nil { report("for_each", "no earlier step '\(source)' has an id") }
        }
        let isAnswered = step.unless.map { name in
            steps.contains { $0.name == name && $0.effect == .reads && $0.finds }
        }
        if isAnswered == false {
            report("unless", "no earlier step of that name reads and finds something")
        }
        if step.effect == .once {
            if step.unless == nil {
                report("effect", "a step that is made once says what to look for before: unless")
            }
            if step.forEach != nil { report("for_each", "a step that is made once is one call") }
        } else if step.unless != nil {
            report("unless", "it belongs to effect = \"once\"")
        }
    }

    private func checkPlaceholders(_ step: HTTPStep, _ report: (String, String) -> Void) {
        for (text, key) in step.templates {
            for name in text.names {
                switch name {
                case .user, .request: break
                case .id where step.forEach == nil: report(key, "{id} needs for_each")
                case .cursor where key == "path" || text.whole == nil:
                    report(key, "{cursor} is a whole value of query, form or json")
                case .id, .cursor, .page: break
                case .constant(let name) where constants[name] == nil:
                    report(key, "values must have '\(name)', or this is no placeholder")
                case .constant: break
                }
            }
            let isFixed = ["headers", "json name"].contains(key)
            if isFixed, text.names.contains(where: { [.user, .id].contains($0) }) {
                report(key, "ids do not go into headers and names")
            }
        }
        let names = step.templates.flatMap(\.text.names)
        // Without a user, a call would be about all of them.
        let asksForOne = group != .users && step.forEach == nil && step.effect != .proves
        if asksForOne, !names.contains(.user) {
            report("path", "{user_id} stands nowhere, so the call is not about one user")
        }
        if step.forEach != nil, !names.contains(.id) {
            report("path", "{id} stands nowhere, so each call would be the same")
        }
        if group == .users, names.contains(.user) {
            report("path", "a list of all users has no {user_id}")
        }
    }

    private func checkMeaning(_ step: HTTPStep, _ report: (String, String) -> Void) {
        if step.paging != nil || step.more != nil, step.items == nil {
            report("items", "pages need the place of their list")
        }
        if step.items != nil, step.effect != .reads {
            report("items", "a step that finds things says effect = \"reads\"")
        }
        if !step.match.isEmpty, step.items == nil {
            report("match", "it selects entries of a list: items")
        }
        if case .link? = step.paging, step.method != .get {
            report("next", "a link is followed by GET; for another method use {cursor}")
        }
        if group == .users, step.items == nil || step.id == nil {
            report("items", "a list of users needs items and id")
        }
        if step.polls, group != .erase || step.effect != .reads || step.forEach == nil {
            report("until", "it waits for the job of an earlier step: for_each, and effect reads")
        }
        if step.promised != nil, !step.effect.changes {
            report("promised", "only a step that erases promises")
        }
        if step.effect == .reads, group == .erase, !step.finds, !step.polls {
            report("id", "a step that reads finds ids (items, id) or waits (until)")
        }
        if !step.goneIf.isEmpty, step.gone.isEmpty { report("gone_if", "it belongs to gone") }
        if step.goneIf.isEmpty, step.gone.contains(where: { $0 < 400 }) {
            report("gone_if", "a success says that nothing is there only by what it contains")
        }
        if step.keeps != nil, !step.effect.changes {
            report("keeps", "only a step that erases keeps something")
        }
        let isAboutMore =
            step.finds || step.count != nil || step.forEach != nil || !step.gone.isEmpty
            || step.templates.contains { $0.text.names.contains(.user) }
        if step.effect == .proves, isAboutMore {
            let cause = "a step that proves has no {user_id}, gone, items, id, count and for_each"
            report("effect", cause)
        }
    }
}
