import Engine
import Lifecycle
import Testing

@testable import Stores

@Suite("The check reports each column that the suggestion asks about", .serialized)
struct AskedColumnTests {
    /// Users with short ids, and what other rows hold of them.
    private static let schema = """
        CREATE TABLE users(id INTEGER PRIMARY KEY, nickname TEXT UNIQUE, full_name TEXT);
        CREATE TABLE user_emails(id INTEGER PRIMARY KEY, user_id INTEGER, email TEXT);
        CREATE TABLE posts(id INTEGER PRIMARY KEY, user_id INTEGER, raw TEXT, modifierid INTEGER,
            paid INTEGER, enrolid INTEGER);
        CREATE TABLE recipients(id INTEGER PRIMARY KEY, type INTEGER, type_id INTEGER);
        CREATE TABLE invites(id INTEGER PRIMARY KEY, invited_by_id INTEGER, address TEXT);
        CREATE TABLE gifts(id INTEGER PRIMARY KEY, amount INTEGER, name TEXT, email TEXT);
        INSERT INTO users VALUES (1, 'anna', 'Anna Smith'), (2, 'bert', 'Bert Jones'),
            (3, 'carl', 'Carl Brown');
        INSERT INTO user_emails VALUES (11, 1, 'anna@example.org'), (12, 2, 'bert@example.org'),
            (13, 3, 'carl@example.org');
        INSERT INTO posts VALUES (11, 1, 'see @bert', 2, 1, 2),
            (12, 2, 'ask @**Carl Brown**', 0, 1, 1), (13, 3, 'I am @carl', 3, 1, 1);
        INSERT INTO recipients VALUES (11, 1, 1), (12, 1, 2), (13, 2, 70);
        INSERT INTO invites VALUES (11, 1, 'bert@example.org'), (12, 2, 'carl@example.org');
        """

    private static func rule(
        _ table: String,
        _ column: String,
        _ type: IDType = .integer,
        _ action: TableAction = .delete
    ) -> TableRule {
        let reason = action == .keep ? "the rows are of others" : nil
        return TableRule(
            table: table,
            column: column,
            idType: type,
            action: action,
            reason: reason
        )
    }

    private static let rules = [
        rule("users", "id"), rule("user_emails", "user_id"), rule("posts", "user_id"),
        rule("invites", "invited_by_id"),
    ]

    private func left(_ app: any ShapeStore, _ rules: [TableRule]) async throws -> [String] {
        guard case .findings(let found) = await app.store(rules).coverage() else {
            Issue.record("no findings")
            return []
        }
        return found.filter { !$0.isCovered }.map { "\($0.name): \($0.reason)" }
    }

    @Test("each such column is a line, also one with few numbers", arguments: ShapeKind.allCases)
    func columns(kind: ShapeKind) async throws {
        let app = try kind.open(Self.schema)
        let found = try await left(app, Self.rules)
        #expect(
            found == [
                "gifts.name: named like personal data",
                "gifts.email: named like personal data",
                "invites.address: holds 'user_emails.email' in 2 of 2 sampled rows",
                "posts.raw: mentions users as @{users.nickname} in 1 of 3 sampled rows; mentions"
                    + " users as @{users.full_name} in 1 of 3 sampled rows",
                "posts.modifierid: \(CoverageQuestion.fewNumbers.reason)",
                "recipients.type_id: \(CoverageQuestion.fewNumbers.reason)",
            ]
        )
    }

    @Test("without a table of users only names are looked at", arguments: ShapeKind.allCases)
    func noUsers(kind: ShapeKind) async throws {
        let app = try kind.open("CREATE TABLE notes(n INTEGER PRIMARY KEY, writer TEXT);")
        let store = app.store([Self.rule("notes", "writer", .text)])
        guard case .findings(let found) = await store.coverage() else {
            Issue.record("no findings")
            return
        }
        let whole = found.filter { $0.name == CoverageFinding.everywhere }
        #expect(whole.map(\.reason).joined().contains("no table of users"), "\(found)")
        #expect(whole.allSatisfy { $0.isCovered && $0.isSample && !$0.isUnread })
    }

    @Test("profiles by user_id are not the table of users", arguments: ShapeKind.allCases)
    func profiles(kind: ShapeKind) async throws {
        let app = try kind.open(
            """
            CREATE TABLE users(id INTEGER PRIMARY KEY, username TEXT UNIQUE);
            CREATE TABLE user_profiles(user_id INTEGER PRIMARY KEY, bio TEXT);
            CREATE TABLE posts(id INTEGER PRIMARY KEY, user_id INTEGER, raw TEXT);
            INSERT INTO users VALUES (1, 'anna'), (2, 'bert');
            INSERT INTO user_profiles VALUES (1, 'Trains'), (2, 'Ships');
            INSERT INTO posts VALUES (11, 1, 'see @bert'), (12, 2, 'Hello');
            """
        )
        let rules = [
            Self.rule("user_profiles", "user_id"), Self.rule("posts", "user_id"),
            Self.rule("users", "id"),
        ]
        let line = "posts.raw: mentions users as @{users.username} in 1 of 2 sampled rows"
        #expect(try await left(app, rules) == [line])
    }

    @Test("sign-in names at one place of JSON are a line", arguments: ShapeKind.allCases)
    func members(kind: ShapeKind) async throws {
        let users = (1...12).map { "(\($0), 'person-\($0)')" }.joined(separator: ", ")
        let notices = (1...12).map { #"(\#($0), \#($0 % 12 + 1), '{"by":"person-\#($0)"}')"# }
        let app = try kind.open(
            """
            CREATE TABLE users(id INTEGER PRIMARY KEY, username TEXT UNIQUE);
            CREATE TABLE notices(id INTEGER PRIMARY KEY, user_id INTEGER, data TEXT);
            INSERT INTO users VALUES \(users);
            INSERT INTO notices VALUES \(notices.joined(separator: ", "));
            """
        )
        let found = try await left(
            app,
            [Self.rule("users", "id"), Self.rule("notices", "user_id")]
        )
        #expect(found.count == 1 && found[0].hasPrefix("notices.data: holds 'users.username'"))
    }

    @Test("a rule that keeps a column answers it", arguments: ShapeKind.allCases)
    func answered(kind: ShapeKind) async throws {
        let app = try kind.open(Self.schema)
        var some = Self.rule("recipients", "type_id", .integer, .keep)
        some.conditions = [ColumnCondition(column: "type", test: .equals(.integer(1)))]
        let kept = [
            Self.rule("gifts", "name", .text, .keep),
            Self.rule("invites", "address", .text, .keep),
            Self.rule("posts", "raw", .text, .keep),
            Self.rule("posts", "modifierid", .integer, .keep),
        ]
        #expect(try await left(app, Self.rules + kept + [some]) == [])
    }

    @Test("ids beside a type that names no table are a line", arguments: ShapeKind.allCases)
    func types(kind: ShapeKind) async throws {
        let app = try kind.open(
            """
            CREATE TABLE users(id TEXT PRIMARY KEY);
            CREATE TABLE posts(id TEXT PRIMARY KEY);
            CREATE TABLE likes(id INTEGER PRIMARY KEY, liked_type TEXT, liked_id TEXT);
            INSERT INTO users VALUES ('user-anna'), ('user-bert');
            INSERT INTO likes VALUES (1, 'U', 'user-anna'), (2, 'User', 'user-bert'),
                (3, 'Post', 'user-anna');
            """
        )
        let users = Self.rule("users", "id", .text)
        let line = "likes.liked_id: holds ids of users in 2 of 3 sampled rows whose 'liked_type'"
        #expect(try await left(app, [users]) == [line + " names no other table"])
        var other = Self.rule("likes", "liked_id", .text)
        other.conditions = [ColumnCondition(column: "liked_type", test: .equals(.text("User")))]
        let rest = line.replacing("2 of 3", with: "1 of 3") + " names no other table"
        #expect(try await left(app, [users, other]) == [rest])
    }

    @Test("the suggestion asks about the same columns", arguments: ShapeKind.allCases)
    func suggestion(kind: ShapeKind) async throws {
        let app = try kind.open(Self.schema)
        let made = try await SuggestedRules(app.store([]), userTable: "users.id")
        let text = made.text.replacing("\n#   ", with: " ").replacing("\n#", with: "")
        for words in [
            "DECIDE: 'invites.address' holds 'user_emails.email' in 2 of 2 sampled rows.",
            "DECIDE: 'posts.raw' mentions users as @{users.nickname} in 1 of 3 sampled rows;",
            "'modifierid' is no foreign key; 2 of 3 sampled values are ids of users. DECIDE: is it",
            "DECIDE: 'recipients.type_id' \(CoverageQuestion.fewNumbers.reason).",
            "DECIDE: 'name', 'email' sound personal",
        ] {
            #expect(text.contains(words), "\(made.text)")
        }
    }
}
