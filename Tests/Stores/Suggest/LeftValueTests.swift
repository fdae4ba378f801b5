import Engine
import Lifecycle
import Testing

@testable import Stores

/// Rules of an operator, and the columns in which they leave values of a user.
struct LeftValue: Sendable, CustomTestStringConvertible {
    let name: String
    var users = LeftValueTests.users
    /// Below the table of users.
    let sql: String
    var rules: [TableRule] = []
    /// Columns, each with what it holds.
    var left: [String] = []

    var testDescription: String { name }
}

@Suite("The check reports each row that rules leave", .serialized) struct LeftValueTests {
    static let users = """
        CREATE TABLE users(id TEXT PRIMARY KEY, email TEXT, username TEXT UNIQUE);
        INSERT INTO users VALUES ('user-anna', 'anna@example.org', 'anna_smith'),
            ('user-bert', 'bert@example.org', 'bert_smith'),
            ('user-carl', 'carl@example.org', 'carl_smith');

        """

    @Test(
        "columns are left where a user's value stands in rows of others",
        arguments: LeftValue.all,
        ShapeKind.allCases
    )
    func left(value: LeftValue, kind: ShapeKind) async throws {
        let app = try kind.open(value.users + value.sql)
        let rules = [TableRule(table: "users", column: "id", action: .delete)] + value.rules
        let answer = await app.store(rules).coverage()
        guard case .findings(let findings) = answer else {
            Issue.record("\(answer)")
            return
        }
        let left = findings.filter { !$0.isCovered && $0.reason.contains("holds 'users.") }
        let short = left.map { finding in
            let values = ["id", "email", "username", "link", "mark"].filter {
                finding.reason.contains("holds 'users.\($0)'")
            }
            return "\(finding.name): \(values.joined(separator: ", "))"
        }
        #expect(short == value.left, "\(findings)")
    }

    @Test("what the suggested rules leave is both a question and a line of the check")
    func questions() async throws {
        var asked = 0
        for value in LeftValue.all where !value.left.isEmpty {
            let app = try AppDatabase(value.users + value.sql)
            let made = try await SuggestedRules(app.store([]), userTable: "users.id")
            let text = made.text.replacing("\n#   ", with: " ").replacing("\n#", with: "")
            let answer = await app.store(made.rules).coverage()
            guard case .findings(let findings) = answer else {
                Issue.record("\(answer)")
                return
            }
            for finding in findings where !finding.isCovered && finding.reason.hasPrefix("holds") {
                asked += 1
                #expect(text.contains("DECIDE: '\(finding.name)' holds"), "\(text)")
            }
        }
        #expect(asked > 0)
    }
}

extension LeftValue {
    static let all = cascades + chains + [masks, condition, texts, others] + evident

    private static func rule(
        _ table: String,
        _ column: String,
        via: String? = nil,
        _ action: TableAction = .delete
    ) -> TableRule {
        var rule = TableRule(table: table, column: column, action: action)
        rule.via = via.flatMap { ParentColumn($0) }
        return rule
    }

    private static let envelopes = """
        CREATE TABLE envelopes(id INTEGER PRIMARY KEY,
            sender_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE);
        CREATE TABLE recipients(id INTEGER PRIMARY KEY,
            envelope_id INTEGER NOT NULL REFERENCES envelopes ON DELETE CASCADE, address TEXT);
        CREATE TABLE fields(id INTEGER PRIMARY KEY,
            recipient_id INTEGER NOT NULL REFERENCES recipients ON DELETE CASCADE, content TEXT);
        INSERT INTO envelopes VALUES (1, 'user-anna'), (2, 'user-bert');

        """

    private static let cascades = [
        LeftValue(
            name: "a cascade from rows of the same user",
            sql: envelopes + """
                INSERT INTO recipients VALUES (1, 1, 'anna@example.org'), (2, 2, NULL);
                INSERT INTO fields VALUES (1, 1, 'signed by anna@example.org');
                """
        ),
        LeftValue(
            name: "a cascade from rows of another user",
            sql: envelopes + """
                INSERT INTO recipients VALUES (1, 1, 'anna@example.org'),
                    (2, 1, 'bert@example.org');
                INSERT INTO fields VALUES (1, 2, 'signed by bert@example.org');
                """,
            left: ["fields.content: email", "recipients.address: email"]
        ),
    ]

    private static let boards = """
        CREATE TABLE projects(id INTEGER PRIMARY KEY, made_for TEXT);
        CREATE TABLE boards(id INTEGER PRIMARY KEY, project INTEGER);
        CREATE TABLE invitations(id INTEGER PRIMARY KEY, board INTEGER, guest TEXT, host TEXT);
        INSERT INTO projects VALUES (1, 'user-anna'), (2, 'user-bert');
        INSERT INTO boards VALUES (1, 1), (2, 2);
        INSERT INTO invitations VALUES (1, 1, 'carl@example.org', 'user-anna'),
            (2, 2, 'carl@example.org', 'user-bert');
        """

    private static let chains = [
        LeftValue(
            name: "a chain from rows of other users",
            sql: boards,
            rules: [
                rule("projects", "made_for"), rule("boards", "project", via: "projects.id"),
                rule("invitations", "board", via: "boards.id"),
            ],
            left: ["invitations.guest: email"]
        ),
        LeftValue(
            name: "a chain beside a rule for the other users",
            sql: boards,
            rules: [
                rule("projects", "made_for"), rule("boards", "project", via: "projects.id"),
                rule("invitations", "board", via: "boards.id"),
                rule("invitations", "guest", via: "users.email"),
            ]
        ),
    ]

    private static let masks = LeftValue(
        name: "a mask in rows of the user, and the same column in rows of others",
        sql: """
            CREATE TABLE posts(id INTEGER PRIMARY KEY, writer TEXT, copy_to TEXT, reply_to TEXT);
            INSERT INTO posts VALUES (1, 'user-anna', 'anna@example.org', 'anna@example.org'),
                (2, 'user-bert', 'bert@example.org', 'anna@example.org');
            """,
        rules: [
            rule(
                "posts",
                "writer",
                .anonymize(
                    ["copy_to", "reply_to"].map { ColumnMask(column: $0, strategy: .null) }
                )
            )
        ],
        left: ["posts.reply_to: email"]
    )

    private static let condition: LeftValue = {
        var some = rule("posts", "writer")
        some.conditions = [ColumnCondition(column: "state", test: .equals(.text("draft")))]
        return LeftValue(
            name: "a rule about some of the rows",
            sql: """
                CREATE TABLE posts(id INTEGER PRIMARY KEY, writer TEXT, state TEXT, copy_to TEXT,
                    reply_to TEXT);
                INSERT INTO posts VALUES (1, 'user-anna', 'draft', 'anna@example.org', NULL),
                    (2, 'user-bert', 'sent', NULL, 'bert@example.org');
                """,
            rules: [some],
            left: ["posts.writer: id", "posts.reply_to: email"]
        )
    }()

    private static let texts = LeftValue(
        name: "all kinds of values in one text",
        sql: """
            CREATE TABLE memos(id INTEGER PRIMARY KEY, body TEXT);
            INSERT INTO memos VALUES (1, 'anna_smith (user-anna, anna@example.org) called'),
                (2, 'bert_smith called user-carl');
            """,
        left: ["memos.body: id, email"]
    )

    private static let others = LeftValue(
        name: "values of other users in the table of users",
        users: """
            CREATE TABLE users(id TEXT PRIMARY KEY, email TEXT, invited_by TEXT,
                referrer_email TEXT NOT NULL);
            INSERT INTO users VALUES ('user-anna', 'anna@example.org', NULL, ''),
                ('user-bert', 'bert@example.org', 'user-anna', 'anna@example.org');
            """,
        sql: "",
        left: ["users.invited_by: id", "users.referrer_email: email"]
    )

    private static let links = """
        CREATE TABLE users(id INTEGER PRIMARY KEY, link TEXT UNIQUE, username TEXT,
            mark TEXT UNIQUE);
        INSERT INTO users VALUES
            (1, 'https://example.org/u/anna', 'anna@example.org', '5f1c9be2-0001-4000-8000-00'),
            (2, 'https://example.org/u/bert', 'bert@example.org', '5f1c9be2-0002-4000-8000-00');

        """

    private static let jobs: String = {
        let rows = (3...40).map { number in "(\(number), 'anna_smith', 'word \(number)')" }
        return rows.joined(separator: ", ")
    }()

    private static let evident = [
        LeftValue(
            name: "values that are a user's whatever the column is called",
            users: links,
            sql: """
                CREATE TABLE visits(id INTEGER PRIMARY KEY, source TEXT, contact TEXT,
                    subject TEXT);
                INSERT INTO visits VALUES (1, 'https://example.org/u/anna', 'anna@example.org',
                    '5f1c9be2-0001-4000-8000-00');
                """,
            left: ["visits.source: link", "visits.contact: username", "visits.subject: mark"]
        ),
        LeftValue(
            name: "words that are names of users, once and more often",
            sql: """
                CREATE TABLE labels(id INTEGER PRIMARY KEY, shown TEXT, rare TEXT);
                INSERT INTO labels VALUES (1, 'anna_smith', 'anna_smith'), (2, 'bert_smith', 'x'),
                    (3, 'blue', 'y'), (4, 'green', 'z'), (5, 'red', NULL);
                """,
            left: ["labels.shown: username"]
        ),
        LeftValue(
            name: "a state that is the name of one user, and words of which few are names",
            sql: """
                CREATE TABLE jobs(id INTEGER PRIMARY KEY, state TEXT, title TEXT);
                INSERT INTO jobs VALUES (1, 'anna_smith', 'anna_smith'),
                    (2, 'anna_smith', 'bert_smith'), \(jobs);
                """
        ),
    ]
}
