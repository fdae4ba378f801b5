import Engine
import Lifecycle
import Settings
import Testing

@testable import Daemon
@testable import Stores

/// A suggestion of a store, read as the configuration of a service is.
struct SuggestedRules {
    let text: String
    let rules: [TableRule]

    /// Asks for a suggestion, and changes lines as a person would.
    init(
        _ store: any PurgeStore,
        userTable: String?,
        edits: [(line: String, by: String)] = []
    ) async throws {
        let suggesting = try #require(store as? any RuleSuggesting)
        let answer = await suggesting.suggestion(userTable: userTable)
        guard case .rules(var text) = answer else { throw SuggestionFailure(text: "\(answer)") }
        for edit in edits {
            guard text.contains(edit.line) else {
                throw SuggestionFailure(text: "no line '\(edit.line)' in:\n\(text)")
            }
            text = text.replacing(edit.line, with: edit.by)
        }
        self.text = text
        let header = """
            [[store]]
            name = "app-db"
            kind = "sqlite"
            path = "/srv/app/app.db"

            """
        let configuration = try DaemonConfiguration.parse(
            Array((header + text).utf8),
            file: "t.toml"
        )
        let tables = try #require(configuration.stores.first?.settings as? any TableKind)
        rules = tables.claims.rules
    }

    /// Such as `items.order_id via orders.id: delete`, sorted.
    var lines: [String] {
        rules.map { rule in
            let via = rule.via.map { " via \($0.table).\($0.column)" } ?? ""
            let template = rule.idTemplate == nil ? "" : " by template"
            let conditions = rule.conditions.map { " where \($0.column)" }.joined()
            let type = rule.idType == .text ? "" : " (\(rule.idType.rawValue))"
            return "\(rule.table).\(rule.column)\(via)\(template)\(conditions)\(type):"
                + " \(rule.planAction.rawValue)"
        }.sorted()
    }
}

struct SuggestionFailure: Error {
    let text: String
}
