import Control
import Engine
import Lifecycle
import Stores
import Testing

@testable import Daemon

/// A store of tables with a fixed suggestion.
private struct TableStub: StubStore, RuleSuggesting {
    let name = StoreName("app-db")
    let answer: SuggestionAnswer

    func suggestion(userTable: String?) async -> SuggestionAnswer { answer }
}

@Suite("Suggested rules over the control API") struct SuggestBackendTests {
    private static let settings = """
        [[store]]
        name = "app-db"
        kind = "sqlite"
        path = "/srv/app.db"
        triggers = "off"
        backups_kept = "30d"
        [[store.table]]
        table = "users"
        column = "id"
        action = "delete"
        [[store.key]]
        name = "customer"
        table = "users"
        column = "id"
        value = "crm_id"

        """
    private static let rules = """
        [[store.table]]
        table = "accounts"
        column = "id"
        action = "delete"

        """

    private func suggest(_ store: any PurgeStore) async throws -> WireSuggestion {
        let name = StoreName("app-db")
        let backend = try Bench().backend(more: Self.settings, stores: [name: store])
        let caller = Caller(role: .operator, uid: 0, operatorUID: 1000)
        return try await backend.suggest(SuggestInput(), store: name, caller: caller)
    }

    @Test func `the section keeps its keys, and is a configuration`() async throws {
        let made = try await suggest(TableStub(answer: .rules(Self.rules)))
        let text = made.configuration
        for line in ["kind = \"sqlite\"", "path = \"/srv/app.db\"", "triggers = \"off\""] {
            #expect(text.contains("\n\(line)\n"), "\(text)")
        }
        #expect(text.contains("table = \"accounts\"") && text.contains("value = \"crm_id\""))
        let configuration = try DaemonConfiguration.parse(Array(text.utf8), file: "t.toml")
        #expect(configuration.stores.map(\.name) == [StoreName("app-db")])
    }

    @Test func `the settings in force are shown, and none waits for a restart`() async throws {
        let backend = try Bench().backend(more: Self.settings)
        let caller = Caller(role: .operator, uid: 0, operatorUID: 1000)
        let shown = try await backend.settings(.nonDefault, caller: caller)
        #expect(shown.configuration.contains("\npath = \"/srv/app.db\"\n"))
        #expect(!shown.configuration.contains("# default") && shown.needRestart.isEmpty)
    }

    @Test func `a store without tables, or without a user table, is refused with the reason`()
        async throws
    {
        let cases: [(any PurgeStore, ControlProblem.Code, String)] = [
            (OpaqueStore(), .suggestionRefused, "no tables"),
            (TableStub(answer: .refused("name it")), .suggestionRefused, "name it"),
            (TableStub(answer: .failure(.unreachable)), .unavailable, "unreachable"),
        ]
        for (store, code, words) in cases {
            do {
                _ = try await suggest(store)
                Issue.record("not refused")
            } catch let problem as ControlProblem {
                #expect(problem.code == code && problem.detail.contains(words), "\(problem)")
            }
        }
    }
}
