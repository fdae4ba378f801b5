import Engine
import Lifecycle
import Testing

@testable import Stores

@Suite("Small numbers that may be ids of users are asked about", .serialized) struct SmallIDTests {
    /// Rows in which all columns behind the key have the same number, as documents have it.
    private static func schema(_ id: (Int) -> Int) -> String {
        let numbers = (1...30).map(id)
        let users = numbers.map { "(\($0))" }.joined(separator: ", ")
        let calls = numbers.map { "(\($0), \($0))" }.joined(separator: ", ")
        let deals = numbers.enumerated().map { row, number in
            let same = Array(repeating: "\(number)", count: 8).joined(separator: ", ")
            let document = "{\"reviewerId\": \(number), \"pages\": \(number)}"
            return "(\(row), \(same), '\(document)', \(row + 1))"
        }
        return """
            CREATE TABLE users(id INTEGER PRIMARY KEY);
            CREATE TABLE companies(id INTEGER PRIMARY KEY);
            CREATE TABLE calls(n INTEGER PRIMARY KEY,
                doer INTEGER NOT NULL REFERENCES users(id));
            CREATE TABLE deals(n INTEGER PRIMARY KEY, owner_id INTEGER, inviter_id INTEGER,
                assigned_agent_id INTEGER, doer INTEGER, parent_company_id INTEGER,
                status_id INTEGER, stars INTEGER, position INTEGER, document TEXT,
                score INTEGER);
            INSERT INTO users VALUES \(users);
            INSERT INTO calls VALUES \(calls);
            INSERT INTO deals VALUES \(deals.joined(separator: ", "));
            """
    }

    private static func rule(_ table: String, _ column: String) -> TableRule {
        TableRule(table: table, column: column, idType: .integer, action: .delete)
    }

    /// What the check says of the column that another user's deal has, by name.
    private func unsure(_ app: any ShapeStore, _ rules: [TableRule]) async throws -> [String] {
        guard case .findings(let found) = await app.store(rules).coverage() else {
            Issue.record("no findings")
            return []
        }
        return found.filter { !$0.isCovered && $0.reason.contains("may hold ids of users") }
            .map { "\($0.name) \($0.reason.replacing("may hold ids of users", with: ""))" }
    }

    private static let places = [
        "deals.inviter_id  in 30 of 30 sampled rows",
        "deals.assigned_agent_id  in 30 of 30 sampled rows",
        "deals.doer  in 30 of 30 sampled rows",
        "deals.document  at $.reviewerId in 30 of 30 sampled rows",
    ]

    @Test("names decide where every small number is an id", arguments: ShapeKind.allCases)
    func dense(kind: ShapeKind) async throws {
        let app = try kind.open(Self.schema { $0 })
        let rules = [Self.rule("users", "id"), Self.rule("calls", "doer")]
        #expect(try await unsure(app, rules) == Self.places)
        // Each row goes with the user whom it names.
        let owned = rules + [Self.rule("deals", "owner_id")]
        #expect(try await unsure(app, owned) == [])
    }

    @Test("chance decides where ids are rare", arguments: ShapeKind.allCases)
    func sparse(kind: ShapeKind) async throws {
        let app = try kind.open(Self.schema { $0 * 1000 })
        let found = try await unsure(app, [Self.rule("users", "id"), Self.rule("calls", "doer")])
        #expect(found.contains("deals.stars  in 30 of 30 sampled rows"), "\(found)")
        #expect(!found.contains { $0.hasPrefix("deals.score") }, "\(found)")
        #expect(!found.contains { $0.hasPrefix("deals.parent_company_id") }, "\(found)")
    }

    @Test(
        "a number beside a name, or as a text in JSON, is judged by the name",
        arguments: ShapeKind.allCases
    )
    func named(kind: ShapeKind) async throws {
        let names = ["assigned_to_id", "status_id", "done"]
        let details = (0..<90).map { row in
            let number = row / 3 + 1
            return "(\(row), '\(names[row % 3])', '\(number)', '{\"inviter_id\": \"\(number)\"}')"
        }
        let app = try kind.open(
            """
            CREATE TABLE users(id INTEGER PRIMARY KEY);
            CREATE TABLE details(n INTEGER PRIMARY KEY, prop_key TEXT, value TEXT, extra TEXT);
            INSERT INTO users VALUES \((1...30).map { "(\($0))" }.joined(separator: ", "));
            INSERT INTO details VALUES \(details.joined(separator: ", "));
            """
        )
        #expect(
            try await unsure(app, [Self.rule("users", "id")]) == [
                "details.value  at prop_key.assigned_to_id in 30 of 30 sampled rows",
                "details.extra  at $.inviter_id in 90 of 90 sampled rows",
            ]
        )
    }

    @Test("a person's name beside a number is not printed", arguments: ShapeKind.allCases)
    func personNames(kind: ShapeKind) async throws {
        let numbers = (1...12).map { $0 * 1000 }
        let rows = numbers.map { "(\($0), 'David', '\($0)')" }.joined(separator: ", ")
        let logins = rows.replacing("David", with: "david_jones")
        let app = try kind.open(
            """
            CREATE TABLE users(id INTEGER PRIMARY KEY);
            CREATE TABLE facts(n INTEGER PRIMARY KEY, name TEXT, fact_value TEXT);
            CREATE TABLE scores(n INTEGER PRIMARY KEY, player_name TEXT, score_value TEXT);
            INSERT INTO users VALUES \(numbers.map { "(\($0))" }.joined(separator: ", "));
            CREATE TABLE games(n INTEGER PRIMARY KEY, player_key TEXT, game_value TEXT);
            CREATE TABLE wins(n INTEGER PRIMARY KEY, memberKey TEXT, win_value TEXT);
            INSERT INTO facts VALUES \(rows); INSERT INTO scores VALUES \(rows);
            INSERT INTO games VALUES \(logins); INSERT INTO wins VALUES \(logins);
            """
        )
        let found = try await unsure(app, [Self.rule("users", "id")])
        let places = [
            "facts.fact_value", "games.game_value", "scores.score_value", "wins.win_value",
        ]
        #expect(found == places.map { "\($0)  in 12 of 12 sampled rows" })
    }

    @Test("few numbers count beside a name of a person", arguments: ["buyer", "patient", "payee"])
    func persons(word: String) async throws {
        let app = try AppDatabase(
            """
            CREATE TABLE users(id INTEGER PRIMARY KEY);
            CREATE TABLE visits(n INTEGER PRIMARY KEY, \(word)_id INTEGER, room_id INTEGER);
            INSERT INTO users VALUES (1), (2);
            INSERT INTO visits VALUES (11, 1, 1), (12, 2, 2);
            """
        )
        let found = try await unsure(app, [Self.rule("users", "id")])
        #expect(found.count == 1 && found[0].hasPrefix("visits.\(word)_id "), "\(found)")
    }

    @Test("one column of several tables is one question") func tenant() async throws {
        let bills = (1...30).map { "(\($0), \($0))" }.joined(separator: ", ")
        let sql =
            Self.schema { $0 }.replacing("owner_id", with: "weight") + """
                CREATE TABLE bills(n INTEGER PRIMARY KEY, inviter_id INTEGER);
                INSERT INTO bills VALUES \(bills);
                """
        let app = try AppDatabase(sql)
        let made = try await SuggestedRules(app.store([]), userTable: "users.id")
        let text = made.text.replacing("\n#   ", with: " ")
        let question = "DECIDE: 'inviter_id' of 2 tables may hold ids of users"
        #expect(text.contains(question), "\(text)")
    }

    @Test("the suggestion asks, and writes no rule") func question() async throws {
        let sql = Self.schema { $0 }.replacing("owner_id", with: "weight")
        let app = try AppDatabase(sql)
        let made = try await SuggestedRules(app.store([]), userTable: "users.id")
        #expect(made.lines == ["calls.doer (integer): delete", "users.id (integer): delete"])
        for column in ["inviter_id", "assigned_agent_id", "doer", "document"] {
            let question = "DECIDE: 'deals.\(column)' may hold ids of users"
            #expect(made.text.contains(question), "\(made.text)")
        }
        for column in ["parent_company_id", "status_id", "stars", "position", "weight"] {
            #expect(!made.text.contains("deals.\(column)"), "\(made.text)")
        }
    }
}
