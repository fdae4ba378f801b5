import Engine
import Lifecycle
import Testing

@testable import Stores

/// A schema, and what a person must read in the suggestion for it.
struct SuggestedText: Sendable, CustomTestStringConvertible {
    let name: String
    let sql: String
    var userTable: String?
    /// The rules; `nil` where they are not the point.
    var rules: [String]?
    /// What the text must have, its lines joined.
    var words: [String] = []
    /// What it must not have.
    var none: [String] = []

    var testDescription: String { name }

    static let users = """
        CREATE TABLE users(id TEXT PRIMARY KEY, email TEXT);
        INSERT INTO users VALUES ('user-anna', 'anna@example.org'),
            ('user-bert', 'bert@example.org'), ('user-carl', 'carl@example.org');

        """
}

/// The text alone: whether the rules work is for ``SuggestedShape``.
@Suite("A suggestion says what a person must know") struct SuggestionTextTests {
    @Test("the text names what goes, what is shared and what is left", arguments: SuggestedText.all)
    func words(text: SuggestedText) async throws {
        let app = try AppDatabase(text.sql)
        let made = try await SuggestedRules(app.store([]), userTable: text.userTable)
        if let rules = text.rules { #expect(made.lines == rules, "\(made.text)") }
        let joined = made.text.replacing("\n#   ", with: " ").replacing("\n#", with: "")
        for words in text.words { #expect(joined.contains(words), "\(words) in \(made.text)") }
        for words in text.none { #expect(!joined.contains(words), "\(words) in \(made.text)") }
        for word in ["anna", "bert", "carl"] { #expect(!joined.contains(word), "\(made.text)") }
    }

    @Test("a table of users with a name that no configuration holds is refused")
    func unwritableUsers() async throws {
        let app = try AppDatabase("CREATE TABLE \"us\u{1}ers\"(id TEXT PRIMARY KEY)")
        let store = try #require(app.store([]) as? any RuleSuggesting)
        let answer = await store.suggestion(userTable: "us\u{1}ers.id")
        guard case .refused(let reason) = answer else {
            Issue.record("not refused: \(answer)")
            return
        }
        #expect(reason.contains("a configuration cannot hold"))
        #expect(reason.unicodeScalars.allSatisfy { $0.value >= 32 })
    }
}

extension SuggestedText {
    static let all =
        cascades + shared + documents + types
        + [mentions, list, sentences, nameBeside, names, shortIDs, noUsers, single]

    private static let cascades = [
        SuggestedText(
            name: "posts of others in a thread of the user",
            sql: users + """
                CREATE TABLE threads(id INTEGER PRIMARY KEY,
                    user_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE);
                CREATE TABLE posts(id INTEGER PRIMARY KEY,
                    thread_id INTEGER NOT NULL REFERENCES threads ON DELETE CASCADE,
                    user_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE);
                CREATE TABLE views(id INTEGER PRIMARY KEY,
                    thread_id INTEGER REFERENCES threads ON DELETE CASCADE);
                """,
            rules: ["posts.user_id: delete", "threads.user_id: delete", "users.id: delete"],
            words: [
                "DECIDE: rows of 'posts' go with those of 'threads' by ON DELETE CASCADE, also"
                    + " rows of other users\n[[store.table]]\ntable = \"threads\""
            ],
            none: ["rows of 'views' go"]
        ),
        SuggestedText(
            name: "answers of others below a comment of the user",
            sql: users + """
                CREATE TABLE comments(id INTEGER PRIMARY KEY,
                    parent_id INTEGER REFERENCES comments ON DELETE CASCADE,
                    author_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE);
                """,
            words: [
                "DECIDE: rows of 'comments' that refer to the user's go with them by ON DELETE"
                    + " CASCADE, also rows of other users"
            ]
        ),
        SuggestedText(
            name: "users in a team of the user",
            sql: """
                CREATE TABLE teams(id INTEGER PRIMARY KEY,
                    owner_id TEXT REFERENCES users ON DELETE CASCADE);
                CREATE TABLE users(id TEXT PRIMARY KEY,
                    team_id INTEGER REFERENCES teams ON DELETE CASCADE);
                """,
            words: ["DECIDE: rows of 'users' go with those of 'teams' by ON DELETE CASCADE"]
        ),
        SuggestedText(
            name: "users below the user",
            sql: """
                CREATE TABLE users(id TEXT PRIMARY KEY,
                    manager_id TEXT REFERENCES users ON DELETE CASCADE);
                """,
            words: [
                "DECIDE: users whose 'manager_id' refers to the user go, too, by ON DELETE CASCADE"
            ]
        ),
        SuggestedText(
            name: "posts of others two cascades below",
            sql: users + """
                CREATE TABLE forums(id INTEGER PRIMARY KEY,
                    owner_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE);
                CREATE TABLE threads(id INTEGER PRIMARY KEY,
                    forum_id INTEGER NOT NULL REFERENCES forums ON DELETE CASCADE);
                CREATE TABLE posts(id INTEGER PRIMARY KEY,
                    thread_id INTEGER NOT NULL REFERENCES threads ON DELETE CASCADE,
                    user_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE);
                """,
            words: [
                "DECIDE: rows of 'posts' go with those of 'threads' by ON DELETE CASCADE, also"
                    + " rows of other users\n[[store.table]]\ntable = \"forums\""
            ]
        ),
    ]

    private static let shared = [
        SuggestedText(
            name: "messages with sender and recipient",
            sql: users + """
                CREATE TABLE messages(id INTEGER PRIMARY KEY,
                    sender_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE,
                    recipient_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE);
                """,
            words: [
                "DECIDE: the row names 2 users: does it go with this one, as ON DELETE CASCADE"
                    + " says?"
            ]
        ),
        SuggestedText(
            name: "messages of which others are the recipients",
            sql: users + """
                CREATE TABLE messages(id INTEGER PRIMARY KEY, room INTEGER,
                    sender_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE);
                CREATE TABLE mails(id INTEGER PRIMARY KEY,
                    sender_id TEXT NOT NULL REFERENCES users);
                CREATE TABLE chat_messages(id INTEGER PRIMARY KEY,
                    user_id TEXT NOT NULL REFERENCES users);
                """,
            words: [
                "DECIDE: others may read these rows: do they go with this user, or stay"
                    + " anonymized? (", "'messages.sender_id'", "'mails.sender_id'",
                "'chat_messages.user_id'", "DECIDE stands once below",
            ]
        ),
        SuggestedText(
            name: "who owns a row, and who worked on it",
            sql: users + """
                CREATE TABLE posts(id INTEGER PRIMARY KEY,
                    user_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE,
                    updated_by TEXT REFERENCES users ON DELETE SET NULL);
                """,
            none: ["does it go with this"]
        ),
    ]

    private static let documents = [
        SuggestedText(
            name: "members of JSON that are no plain words",
            sql: users + """
                CREATE TABLE settings(id INTEGER PRIMARY KEY, document JSON);
                INSERT INTO settings VALUES
                    (1, '{"admins":["user-anna","user-bert"],"chief \\"editor.id\\"":"user-anna"}'),
                    (2, '{"admins":["user-carl"],"rédacteur":["user-carl"]}');
                """,
            words: [
                "'document' holds 'users.id' at $.admins[*], of 3 sampled users.",
                "DECIDE: 'settings.document' holds values of users at further places, too. They"
                    + " are not printed",
            ],
            none: ["only at", "chief", "dacteur"]
        ),
        SuggestedText(
            name: "all members of JSON are plain words",
            sql: users + """
                CREATE TABLE settings(id INTEGER PRIMARY KEY, document JSON);
                INSERT INTO settings VALUES
                    (1, '{"editors":[{"id":"user-anna"},{"id":"user-bert"}],"name":"Ann"}');
                """,
            words: [
                "'document' holds 'users.id' at $.editors[*].id, of 2 sampled users.",
                "DECIDE: is it enough to remove the value there? To remove all of $.editors[*],"
                    + " write set = { document ="
                    + " { strategy = \"remove\", path = \"$.editors[*]\" } }",
            ],
            none: ["further places"]
        ),
    ]

    private static let types = [
        SuggestedText(
            name: "namespaced types",
            sql: users + """
                CREATE TABLE posts(id TEXT PRIMARY KEY, user_id TEXT NOT NULL REFERENCES users);
                CREATE TABLE versions(id INTEGER PRIMARY KEY, item_type TEXT, item_id TEXT);
                INSERT INTO posts VALUES ('p-1', 'user-anna');
                INSERT INTO versions VALUES (1, 'App\\Models\\User', 'user-anna'),
                    (2, 'App\\Models\\Post', 'p-1');
                """,
            rules: [
                "posts.user_id: delete", "users.id: delete",
                "versions.item_id via posts.id where item_type: delete",
                "versions.item_id where item_type: delete",
            ],
            words: [#"where = { item_type = { equals = "App\\Models\\User" } }"#]
        ),
        SuggestedText(
            name: "a type that means the table of users by its last word",
            sql: """
                CREATE TABLE auth_users(id TEXT PRIMARY KEY);
                CREATE TABLE versions(id INTEGER PRIMARY KEY, item_type TEXT, item_id TEXT);
                INSERT INTO auth_users VALUES ('user-anna'), ('user-bert');
                INSERT INTO versions VALUES (1, 'App\\Models\\User', 'user-anna');
                """,
            userTable: "auth_users.id",
            rules: ["auth_users.id: delete", "versions.item_id where item_type: delete"],
            words: ["this value means 'auth_users'"]
        ),
        SuggestedText(
            name: "a type that nobody knows",
            sql: users + """
                CREATE TABLE versions(id INTEGER PRIMARY KEY, item_type TEXT, item_id TEXT);
                INSERT INTO versions VALUES (1, 'U', 'user-anna'), (2, 'U', 'user-bert');
                """,
            rules: ["users.id: delete"],
            words: [
                "DECIDE: 'versions.item_id' holds ids of users in 2 of 2 sampled rows whose"
                    + " 'item_type' names no other table.",
                "- versions: see the questions above",
            ]
        ),
    ]

    private static let mentions = SuggestedText(
        name: "mentions of short names",
        sql: """
            CREATE TABLE users(id TEXT PRIMARY KEY, username TEXT UNIQUE);
            CREATE TABLE comments(id INTEGER PRIMARY KEY,
                user_id TEXT NOT NULL REFERENCES users, body TEXT);
            INSERT INTO users VALUES ('user-anna', 'anna'), ('user-bert', 'bert');
            INSERT INTO comments VALUES (1, 'user-anna', 'see (@bert).'),
                (2, 'user-anna', 'I, @anna'), (3, 'user-bert', 'bert@anna'),
                (4, 'user-bert', 'no');
            """,
        rules: ["comments.user_id: delete", "users.id: delete"],
        words: [
            "DECIDE: 'comments.body' mentions users as @{users.username} in 1 of 4 sampled rows."
        ]
    )

    private static let list = SuggestedText(
        name: "a list with blanks",
        sql: users + """
            CREATE TABLE rooms(id INTEGER PRIMARY KEY, people TEXT);
            INSERT INTO rooms VALUES (1, 'user-anna, user-bert'), (2, 'user-carl, user-anna');
            """,
        rules: ["rooms.people: anonymize", "users.id: delete"],
        words: ["separator = \", \"", "'people' holds 'users.id' between ', '"]
    )

    private static let sentences = SuggestedText(
        name: "sentences with commas",
        sql: users + """
            CREATE TABLE notes(id INTEGER PRIMARY KEY, body TEXT);
            INSERT INTO notes VALUES (1, 'well, user-anna, this is it'),
                (2, 'and user-bert, too, or user-carl');
            """,
        rules: ["users.id: delete"],
        words: [
            "DECIDE: 'notes.body' holds 'users.id' inside longer values, in 2 of 2 sampled rows.",
            "- notes: see the questions above",
        ]
    )

    private static let nameBeside = SuggestedText(
        name: "a short name of one user beside the ids of others",
        sql: """
            CREATE TABLE users(id TEXT PRIMARY KEY, username TEXT UNIQUE);
            CREATE TABLE notes(id INTEGER PRIMARY KEY, body TEXT);
            INSERT INTO users VALUES ('user-anna', 'anna'), ('user-bert', 'bert'),
                ('user-carl', 'carl');
            INSERT INTO notes VALUES (1, 'bert met user-anna'), (2, 'bert met user-carl');
            """,
        rules: ["users.id: delete"],
        words: ["DECIDE: 'notes.body' holds 'users.id' inside longer values, in 2 of 2"]
    )

    private static let names = SuggestedText(
        name: "names that are hard to write",
        sql: users + """
            CREATE TABLE "bad\u{1}
            name"(id INTEGER PRIMARY KEY, user_id TEXT NOT NULL REFERENCES users);
            CREATE TABLE "qu""ote\\s'"(id INTEGER PRIMARY KEY, "ow""ner" TEXT REFERENCES users
                ON DELETE SET NULL, user_id TEXT NOT NULL REFERENCES users);
            CREATE TABLE "li\u{2028}ne"(name TEXT);
            """,
        rules: [
            "qu\"ote\\s'.ow\"ner: anonymize", "qu\"ote\\s'.user_id: delete", "users.id: delete",
        ],
        words: [
            "DECIDE: no rule about 'bad name.user_id', which has data of users: a configuration"
                + " cannot hold one of the names."
        ],
        none: ["\u{2028}", "\u{1}"]
    )

    private static let shortIDs = SuggestedText(
        name: "ids that are short numbers",
        sql: """
            CREATE TABLE users(id INTEGER PRIMARY KEY);
            CREATE TABLE stars(n INTEGER PRIMARY KEY, count INTEGER);
            INSERT INTO users VALUES (1), (2);
            INSERT INTO stars VALUES (1, 1), (2, 2);
            """,
        rules: ["users.id (integer): delete"],
        words: [
            "- stars: no key or name leads to a user; the ids of users are too short to differ"
                + " from other values, so that its 2 sampled rows cannot show whether it refers to"
                + " users",
            "compared with 2 users.",
        ],
        none: ["holds no value", "hold no value"]
    )

    private static let noUsers = SuggestedText(
        name: "no user to compare values with",
        sql: """
            CREATE TABLE users(id TEXT PRIMARY KEY);
            CREATE TABLE stars(n INTEGER PRIMARY KEY, name TEXT);
            INSERT INTO stars VALUES (1, 'Rigel'), (2, 'Vega');
            """,
        words: [
            "- stars: no key or name leads to a user, and no user was read to compare it with",
            "compared with 0 users.",
        ],
        none: ["too short"]
    )

    private static let single = SuggestedText(
        name: "one of each",
        sql: """
            CREATE TABLE users(id TEXT PRIMARY KEY, email TEXT);
            CREATE TABLE countries(id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE orders(id INTEGER PRIMARY KEY, placed_for TEXT);
            CREATE TABLE mails(id INTEGER PRIMARY KEY, address TEXT, n INTEGER);
            INSERT INTO users VALUES ('user-anna', 'anna@example.org');
            INSERT INTO countries VALUES (1, 'Norway');
            INSERT INTO orders VALUES (1, 'user-anna');
            INSERT INTO mails VALUES (1, 'anna@example.org', 1);
            """,
        words: [
            "Read: 4 tables, 4 rows of 4 tables, compared with 1 user.",
            "1 of 1 sampled values is the id of a user.",
            "'address' holds 'users.email' in the only sampled row.",
            "- countries: no key leads to a user, and its only sampled row holds no value that"
                + " can only be a user's",
        ],
        none: ["1 tables", "1 rows", "1 users", "1 times"]
    )
}
