import Engine
import Lifecycle
import Testing

@testable import Stores

/// Columns that lead to users otherwise than by the id of the rules, and what the check reports.
struct OtherKey: Sendable, CustomTestStringConvertible {
    let name: String
    let sql: String
    /// Of the table of users.
    var users = "users"
    /// There are rules for the rows of posts and comments.
    var hasPosts = true
    var reported: [String] = []

    var testDescription: String { name }
}

@Suite("The check reports who is named by another key, or by name alone", .serialized)
struct OtherKeyTests {
    private static func rule(_ table: String, _ column: String, via: String? = nil) -> TableRule {
        var rule = TableRule(table: table, column: column, action: .delete)
        rule.via = via.flatMap { ParentColumn($0) }
        return rule
    }

    @Test("columns that no rule is about", arguments: OtherKey.all, ShapeKind.allCases)
    func reported(key: OtherKey, kind: ShapeKind) async throws {
        let app = try kind.open(key.sql)
        var rules = [Self.rule(key.users, "uuid")]
        if key.hasPosts {
            rules.append(Self.rule("posts", "owner"))
            rules.append(Self.rule("comments", "post_id", via: "posts.id"))
        }
        let answer = await app.store(rules).coverage()
        guard case .findings(let found) = answer else {
            Issue.record("\(answer)")
            return
        }
        let left = found.filter { !$0.isCovered }.map { "\($0.name): \($0.reason)" }
        #expect(left == key.reported, "\(found)")
    }
}

extension OtherKey {
    static let all = [number, few, ownNumber, elsewhere, rare, keyed, persons, accounts]

    /// Thirty users by number and UUID, each with a post and a comment on it, of which `column` has
    /// a value by the user's number.
    private static func forum(
        _ column: String,
        users: String = "users",
        count: Int = 30,
        factor: Int = 1,
        _ value: (Int) -> String
    ) -> String {
        let rows = { (row: (Int) -> String) in (1...count).map(row).joined(separator: ", ") }
        let own = rows { "(\($0 * factor), 'user-00\($0)')" }
        let posts = rows { "(\($0), 'user-00\($0)')" }
        let comments = rows { "(\($0), \($0), \(value($0)))" }
        return """
            CREATE TABLE \(users)(id INTEGER PRIMARY KEY, uuid TEXT UNIQUE);
            CREATE TABLE posts(id INTEGER PRIMARY KEY, owner TEXT);
            CREATE TABLE comments(id INTEGER PRIMARY KEY, post_id INTEGER, \(column));
            INSERT INTO \(users) VALUES \(own);
            INSERT INTO posts VALUES \(posts);
            INSERT INTO comments VALUES \(comments);
            """
    }

    private static let number = OtherKey(
        name: "numbers of users where the rules go by UUIDs",
        sql: forum("user_id INTEGER") { "\($0 % 30 + 1)" },
        reported: ["comments.user_id: may hold ids of users in 30 of 30 sampled rows"]
    )

    private static let few = OtherKey(
        name: "few of them",
        sql: forum("user_id INTEGER", count: 3) { "\($0 % 3 + 1)" },
        reported: ["comments.user_id: named like a user id"]
    )

    private static let ownNumber = OtherKey(
        name: "the number of the user with whom the row goes",
        sql: forum("user_id INTEGER") { "\($0)" }
    )

    private static let elsewhere = OtherKey(
        name: "many values of which none is a user's",
        sql: forum("user_id TEXT") { "'external-\($0)'" }
    )

    private static let rare = OtherKey(
        name: "numbers that chance does not give, whatever the column is called",
        sql: forum("doer INTEGER", factor: 1000) { "\(($0 % 30 + 1) * 1000)" },
        reported: ["comments.doer: may hold ids of users in 30 of 30 sampled rows"]
    )

    private static let keyed = OtherKey(
        name: "a foreign key to the number",
        sql: forum("user_id INTEGER REFERENCES clients(id)", users: "clients") {
            "\($0 % 30 + 1)"
        },
        users: "clients",
        reported: ["comments.user_id: refers to 'clients'"]
    )

    private static let users = "CREATE TABLE users(id INTEGER PRIMARY KEY, uuid TEXT UNIQUE);\n"

    private static let persons = OtherKey(
        name: "persons' names in tables without users, and names of things",
        sql: users + """
            CREATE TABLE guestbook(id INTEGER PRIMARY KEY, full_name TEXT, message TEXT);
            CREATE TABLE visits(id INTEGER PRIMARY KEY, guest_name TEXT, address TEXT);
            CREATE TABLE callers(id INTEGER PRIMARY KEY, first_name TEXT);
            CREATE TABLE products(id INTEGER PRIMARY KEY, full_name TEXT);
            CREATE TABLE shared_files(id INTEGER PRIMARY KEY, full_name TEXT);
            CREATE TABLE orders(id INTEGER PRIMARY KEY, address INTEGER);
            """,
        hasPosts: false,
        reported: [
            "callers.first_name: named like personal data",
            "guestbook.full_name: named like personal data",
            "visits.guest_name: named like personal data",
            "visits.address: named like personal data",
        ]
    )

    private static let accounts = OtherKey(
        name: "keys to accounts that show nothing of persons, and to what is none",
        sql: users + """
            CREATE TABLE identities(id INTEGER PRIMARY KEY, secret TEXT);
            CREATE TABLE app_accounts(id INTEGER PRIMARY KEY, state TEXT);
            CREATE TABLE channels(id INTEGER PRIMARY KEY, state TEXT);
            CREATE TABLE letters(id INTEGER PRIMARY KEY,
                user_id INTEGER REFERENCES identities(id),
                owner_id INTEGER REFERENCES app_accounts(id),
                recipient_id INTEGER REFERENCES channels(id));
            """,
        hasPosts: false,
        reported: [
            "letters.user_id: named like a user id", "letters.owner_id: named like a user id",
        ]
    )
}
