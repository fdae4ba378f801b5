@testable import Stores

/// A shape of real schemas without a configuration: the rules that it asks for, and what a purge by
/// them leaves.
struct SuggestedShape: Sendable, CustomStringConvertible {
    let name: String
    /// Creates and fills the tables.
    let sql: String
    var userTable: String?
    var user = "user-anna"
    let rules: [String]
    /// All rows of the tables afterwards.
    let left: [String: [String]]
    /// Words that the comments must have.
    var words: [String] = []

    var testDescription: String { name }
    var description: String { name }
}

extension SuggestedShape {
    private static let users = """
        CREATE TABLE users(id TEXT PRIMARY KEY, email TEXT);
        INSERT INTO users VALUES ('user-anna', 'anna@example.org'),
            ('user-bert', 'bert@example.org'), ('user-carl', 'carl@example.org');

        """

    static let all = [
        chain, bareChain, tree, polymorphic, composite, authorAndEditor, messages, members,
        byEmail, address, cascade, belowOthers, neededBelowOthers, amongUsers, numbers,
        inside, unrelated, discussion, creators, namedByKey, externalNumbers, joined,
    ]

    /// Rows of others, with and below those of the user, stay where no key demands otherwise.
    static let discussion = SuggestedShape(
        name: "topics of one user with posts of another, without keys",
        sql: users + """
            CREATE TABLE topics(id INTEGER PRIMARY KEY, user_id TEXT,
                last_post_user_id TEXT NOT NULL);
            CREATE TABLE posts(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, user_id TEXT,
                reply_to_user_id TEXT);
            CREATE TABLE bookmarks(id INTEGER PRIMARY KEY, user_id TEXT NOT NULL,
                marked_id INTEGER, marked_type TEXT);
            INSERT INTO topics VALUES (1, 'user-anna', 'user-bert'), (2, 'user-bert', 'user-anna');
            INSERT INTO posts VALUES (1, 1, 'user-anna', NULL), (2, 1, 'user-bert', 'user-anna'),
                (3, 2, 'user-bert', NULL);
            INSERT INTO bookmarks VALUES (1, 'user-bert', 1, 'Topic'), (2, 'user-anna', 2, 'Topic');
            """,
        rules: [
            "bookmarks.marked_id via topics.id where marked_type: keep",
            "bookmarks.user_id: delete", "posts.reply_to_user_id: anonymize",
            "posts.topic_id via topics.id: keep", "posts.user_id: delete",
            "topics.last_post_user_id: keep", "topics.user_id: delete", "users.id: delete",
        ],
        left: [
            "topics": ["2|user-bert|user-anna"], "posts": ["2|1|user-bert|", "3|2|user-bert|"],
            "bookmarks": ["1|user-bert|1|Topic"],
        ],
        words: ["DECIDE: rows of other users refer to the user's, which go; they stay: shall"]
    )

    static let creators = SuggestedShape(
        name: "two columns that name who made a row that others use",
        sql: users + """
            CREATE TABLE sites(id INTEGER PRIMARY KEY, creator_id TEXT, creator_login TEXT);
            CREATE TABLE plans(id INTEGER PRIMARY KEY, created_by TEXT NOT NULL);
            INSERT INTO sites VALUES (1, 'user-anna', 'user-anna'), (2, 'user-bert', 'user-bert');
            INSERT INTO plans VALUES (1, 'user-anna'), (2, 'user-bert');
            """,
        rules: [
            "plans.created_by: keep", "sites.creator_id: anonymize",
            "sites.creator_login: anonymize", "users.id: delete",
        ],
        left: [
            "sites": ["1||", "2|user-bert|user-bert"], "plans": ["1|user-anna", "2|user-bert"],
        ],
        words: [
            "DECIDE: the name says that the user only worked on the row, but it cannot be NULL",
            "DECIDE: no other column says whose the row is: does it go, or stay",
        ]
    )

    /// Numbers that others gave are equal by chance.
    static let externalNumbers = SuggestedShape(
        name: "a unique column with a name that says nothing",
        sql: users + """
            CREATE TABLE cards(id INTEGER PRIMARY KEY, user_id TEXT, external_id INTEGER UNIQUE);
            CREATE TABLE products(id INTEGER PRIMARY KEY, external_id INTEGER);
            INSERT INTO cards VALUES (1, 'user-anna', 7), (2, 'user-bert', 8);
            INSERT INTO products VALUES (1, 7), (2, 9);
            """,
        rules: ["cards.user_id: delete", "users.id: delete"],
        left: ["cards": ["2|user-bert|8"], "products": ["1|7", "2|9"]]
    )

    static let namedByKey = SuggestedShape(
        name: "children with the name of the parent's key",
        sql: users + """
            CREATE TABLE log_visit(idvisit INTEGER PRIMARY KEY, user_id TEXT);
            CREATE TABLE log_action(n INTEGER PRIMARY KEY, idvisit INTEGER);
            INSERT INTO log_visit VALUES (1, 'user-anna'), (2, 'user-bert');
            INSERT INTO log_action VALUES (1, 1), (2, 2);
            """,
        rules: [
            "log_action.idvisit via log_visit.idvisit: delete", "log_visit.user_id: delete",
            "users.id: delete",
        ],
        left: ["log_visit": ["2|user-bert"], "log_action": ["2|2"]]
    )

    static let joined = SuggestedShape(
        name: "ids that a mark joins with another word",
        sql: users + """
            CREATE TABLE options(id INTEGER PRIMARY KEY, name TEXT, value TEXT);
            INSERT INTO options VALUES (1, 'user-anna_default', 'x'),
                (2, 'user-bert_default', 'y'), (3, 'site_default', 'z');
            """,
        rules: ["options.name: delete", "users.id: delete"],
        left: ["options": ["2|user-bert_default|y", "3|site_default|z"]],
        words: ["pattern = \"{user}_default\""]
    )

    static let chain = SuggestedShape(
        name: "a chain of foreign keys that restrict",
        sql: users + """
            CREATE TABLE orders(id INTEGER PRIMARY KEY, user_id TEXT NOT NULL REFERENCES users);
            CREATE TABLE order_items(id INTEGER PRIMARY KEY,
                order_id INTEGER NOT NULL REFERENCES orders);
            INSERT INTO orders VALUES (1, 'user-anna'), (2, 'user-bert');
            INSERT INTO order_items VALUES (1, 1), (2, 2);
            """,
        rules: [
            "order_items.order_id via orders.id: delete", "orders.user_id: delete",
            "users.id: delete",
        ],
        left: ["orders": ["2|user-bert"], "order_items": ["2|2"]],
        words: ["Foreign key 'user_id' to 'users'"]
    )

    static let bareChain = SuggestedShape(
        name: "a chain without foreign keys, found by values and names",
        sql: users + """
            CREATE TABLE orders(id INTEGER PRIMARY KEY, placed_for TEXT);
            CREATE TABLE order_items(id INTEGER PRIMARY KEY, order_id INTEGER);
            INSERT INTO orders VALUES (1, 'user-anna'), (2, 'user-bert');
            INSERT INTO order_items VALUES (1, 1), (2, 2), (3, NULL);
            """,
        rules: [
            "order_items.order_id via orders.id: delete", "orders.placed_for: delete",
            "users.id: delete",
        ],
        left: ["orders": ["2|user-bert"], "order_items": ["2|2", "3|"]],
        words: ["'placed_for' is no foreign key; 2 of 2 sampled values are ids of users."]
    )

    static let tree = SuggestedShape(
        name: "a tree of comments",
        sql: users + """
            CREATE TABLE comments(id INTEGER PRIMARY KEY, parent_id INTEGER REFERENCES comments,
                author_id TEXT NOT NULL REFERENCES users);
            INSERT INTO comments VALUES (1, NULL, 'user-bert'), (2, 1, 'user-anna'),
                (3, 2, 'user-bert'), (4, 3, 'user-anna');
            """,
        rules: [
            "comments.author_id: delete", "comments.parent_id via comments.id: anonymize",
            "users.id: delete",
        ],
        left: ["comments": ["1||user-bert", "3||user-bert"]],
        words: ["DECIDE: rows of others stay and lose the reference"]
    )

    static let polymorphic = SuggestedShape(
        name: "polymorphic references",
        sql: users + """
            CREATE TABLE posts(id TEXT PRIMARY KEY, user_id TEXT NOT NULL REFERENCES users);
            CREATE TABLE likes(id INTEGER PRIMARY KEY, likeable_id TEXT, likeable_type TEXT);
            INSERT INTO posts VALUES ('p-1', 'user-anna'), ('p-2', 'user-bert');
            INSERT INTO likes VALUES (1, 'user-anna', 'User'), (2, 'p-1', 'Post'),
                (3, 'p-2', 'Post'), (4, 'user-bert', 'User');
            """,
        rules: [
            "likes.likeable_id via posts.id where likeable_type: delete",
            "likes.likeable_id where likeable_type: delete", "posts.user_id: delete",
            "users.id: delete",
        ],
        left: ["posts": ["p-2|user-bert"], "likes": ["3|p-2|Post", "4|user-bert|User"]]
    )

    static let composite = SuggestedShape(
        name: "keys of tenant and id",
        sql: """
            CREATE TABLE users(tenant TEXT, id INTEGER, PRIMARY KEY (tenant, id));
            CREATE TABLE posts(n INTEGER PRIMARY KEY, tenant TEXT, author INTEGER,
                FOREIGN KEY (tenant, author) REFERENCES users);
            CREATE TABLE notes(n INTEGER PRIMARY KEY, tenant TEXT, user_id INTEGER);
            CREATE TABLE marks(n INTEGER PRIMARY KEY, user_id INTEGER);
            INSERT INTO users VALUES ('acme', 1), ('blue', 1), ('acme', 2);
            INSERT INTO posts VALUES (1, 'acme', 1), (2, 'blue', 1), (3, 'acme', 2);
            INSERT INTO notes VALUES (1, 'acme', 1), (2, 'blue', 1);
            INSERT INTO marks VALUES (1, 1);
            """,
        userTable: "users.id",
        user: "acme:1",
        rules: [
            "notes.user_id by template (integer): delete",
            "posts.author by template (integer): delete", "users.id by template (integer): delete",
        ],
        left: [
            "posts": ["2|blue|1", "3|acme|2"], "users": ["acme|2", "blue|1"],
            "notes": ["2|blue|1"], "marks": ["1|1"],
        ],
        words: ["DECIDE: the id is made of several columns"]
    )

    static let authorAndEditor = SuggestedShape(
        name: "who made a row, and who changed it",
        sql: users + """
            CREATE TABLE posts(id INTEGER PRIMARY KEY, user_id TEXT NOT NULL REFERENCES users,
                updated_by TEXT REFERENCES users);
            INSERT INTO posts VALUES (1, 'user-anna', 'user-anna'), (2, 'user-bert', 'user-anna'),
                (3, 'user-bert', 'user-bert');
            """,
        rules: [
            "posts.updated_by: anonymize", "posts.user_id: delete", "users.id: delete",
        ],
        left: ["posts": ["2|user-bert|", "3|user-bert|user-bert"]]
    )

    static let messages = SuggestedShape(
        name: "two users of equal rank in one row",
        sql: users + """
            CREATE TABLE follows(follower_id TEXT NOT NULL REFERENCES users,
                followee_id TEXT NOT NULL REFERENCES users,
                PRIMARY KEY (follower_id, followee_id));
            INSERT INTO follows VALUES ('user-anna', 'user-bert'), ('user-bert', 'user-anna'),
                ('user-carl', 'user-bert');
            """,
        rules: [
            "follows.followee_id: delete", "follows.follower_id: delete", "users.id: delete",
        ],
        left: ["follows": ["user-carl|user-bert"]],
        words: ["DECIDE: the row names 2 users: does it go with this one?"]
    )

    static let members = SuggestedShape(
        name: "a join table, and the shared rows behind it",
        sql: users + """
            CREATE TABLE teams(id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE memberships(team_id INTEGER REFERENCES teams,
                user_id TEXT REFERENCES users, PRIMARY KEY (team_id, user_id));
            INSERT INTO teams VALUES (1, 'Red');
            INSERT INTO memberships VALUES (1, 'user-anna'), (1, 'user-bert');
            """,
        rules: ["memberships.user_id: delete", "users.id: delete"],
        left: ["teams": ["1|Red"], "memberships": ["1|user-bert"]],
        words: ["- teams: no key leads to a user"]
    )

    static let byEmail = SuggestedShape(
        name: "rows found by an e-mail address",
        sql: users + """
            CREATE TABLE newsletter(n INTEGER PRIMARY KEY, address TEXT);
            INSERT INTO newsletter VALUES (1, 'anna@example.org'), (2, 'bert@example.org'),
                (3, 'dora@example.org');
            """,
        rules: ["newsletter.address via users.email: delete", "users.id: delete"],
        left: ["newsletter": ["2|bert@example.org", "3|dora@example.org"]],
        words: ["holds 'users.email' in 2 of 3 sampled rows"]
    )

    static let address = SuggestedShape(
        name: "addresses, to which the users' rows refer",
        sql: """
            CREATE TABLE addresses(id INTEGER PRIMARY KEY, phone TEXT);
            CREATE TABLE users(id TEXT PRIMARY KEY,
                address_id INTEGER NOT NULL REFERENCES addresses);
            INSERT INTO addresses VALUES (1, '555'), (2, '556'), (3, '557');
            INSERT INTO users VALUES ('user-anna', 1), ('user-bert', 2), ('user-carl', 2);
            """,
        rules: ["addresses.id via users.address_id: delete", "users.id: delete"],
        left: ["addresses": ["2|556", "3|557"], "users": ["user-bert|2", "user-carl|2"]]
    )

    static let cascade = SuggestedShape(
        name: "rows that the database deletes along",
        sql: users + """
            CREATE TABLE posts(id INTEGER PRIMARY KEY,
                user_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE);
            CREATE TABLE views(id INTEGER PRIMARY KEY,
                post_id INTEGER REFERENCES posts ON DELETE CASCADE);
            INSERT INTO posts VALUES (1, 'user-anna'), (2, 'user-bert');
            INSERT INTO views VALUES (1, 1), (2, 2);
            """,
        rules: ["posts.user_id: delete", "users.id: delete"],
        left: ["posts": ["2|user-bert"], "views": ["2|2"]],
        words: ["- views: its rows go with those of 'posts' by ON DELETE CASCADE"]
    )

    static let belowOthers = SuggestedShape(
        name: "a user's address in rows below those of others",
        sql: users + """
            CREATE TABLE envelopes(id INTEGER PRIMARY KEY,
                sender_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE);
            CREATE TABLE recipients(id INTEGER PRIMARY KEY,
                envelope_id INTEGER NOT NULL REFERENCES envelopes ON DELETE CASCADE,
                address TEXT);
            INSERT INTO envelopes VALUES (1, 'user-anna'), (2, 'user-bert');
            INSERT INTO recipients VALUES (1, 1, 'bert@example.org'), (2, 2, 'anna@example.org'),
                (3, 2, NULL);
            """,
        rules: [
            "envelopes.sender_id: delete", "recipients.address via users.email: anonymize",
            "recipients.envelope_id via envelopes.id: delete", "users.id: delete",
        ],
        left: ["envelopes": ["2|user-bert"], "recipients": ["2|2|", "3|2|"]],
        words: ["'address' holds 'users.email' in 2 of 2 sampled rows."]
    )

    /// The row is another's, and cannot be without the address.
    static let neededBelowOthers = SuggestedShape(
        name: "the same in a column that cannot be NULL",
        sql: belowOthers.sql.replacing("(3, 2, NULL)", with: "(3, 1, 'carl@example.org')")
            .replacing("address TEXT", with: "address TEXT NOT NULL"),
        rules: ["envelopes.sender_id: delete", "users.id: delete"],
        left: ["envelopes": ["2|user-bert"], "recipients": ["2|2|anna@example.org"]],
        words: ["DECIDE: 'recipients.address' holds 'users.email' in 3 of 3 sampled rows."]
    )

    static let amongUsers = SuggestedShape(
        name: "values of one user in the row of another",
        sql: """
            CREATE TABLE users(id TEXT PRIMARY KEY, email TEXT, invited_by TEXT,
                referrer_email TEXT);
            INSERT INTO users VALUES ('user-anna', 'anna@example.org', NULL, NULL),
                ('user-bert', 'bert@example.org', 'user-anna', 'anna@example.org'),
                ('user-carl', 'carl@example.org', 'user-anna', NULL);
            """,
        rules: [
            "users.id: delete", "users.invited_by via users.id: anonymize",
            "users.referrer_email via users.email: anonymize",
        ],
        left: ["users": ["user-bert|bert@example.org||", "user-carl|carl@example.org||"]]
    )

    /// Small numbers are everywhere: only names and keys tell ids.
    static let numbers = SuggestedShape(
        name: "ids that are small numbers",
        sql: """
            CREATE TABLE users(id INTEGER PRIMARY KEY, age INTEGER);
            CREATE TABLE posts(id INTEGER PRIMARY KEY, owner_id INTEGER, stars INTEGER);
            INSERT INTO users VALUES (1, 2), (2, 1), (3, 3);
            INSERT INTO posts VALUES (1, 1, 2), (2, 2, 1), (3, 1, 3);
            """,
        user: "1",
        rules: ["posts.owner_id (integer): delete", "users.id (integer): delete"],
        left: ["users": ["2|1", "3|3"], "posts": ["2|2|1"]]
    )

    static let inside = SuggestedShape(
        name: "ids inside documents",
        sql: users + """
            CREATE TABLE settings(id INTEGER PRIMARY KEY, document JSON);
            CREATE TABLE mails(id INTEGER PRIMARY KEY, body TEXT);
            INSERT INTO settings VALUES (1, '{"admins":["user-anna","user-bert"]}');
            INSERT INTO mails VALUES (1, 'Hello user-anna, bye'), (2, 'Dear user-bert');
            """,
        rules: ["settings.document: anonymize", "users.id: delete"],
        left: ["mails": ["1|Hello user-anna, bye", "2|Dear user-bert"]],
        words: [
            "holds 'users.id' at $.admins[*], of 2 sampled users",
            "DECIDE: 'mails.body' holds 'users.id' inside longer values",
        ]
    )

    static let unrelated = SuggestedShape(
        name: "tables without a relation",
        sql: users + """
            CREATE TABLE countries(id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE visits(id INTEGER PRIMARY KEY, ip_address TEXT);
            INSERT INTO countries VALUES (1, 'Norway');
            """,
        rules: ["users.id: delete"],
        left: ["countries": ["1|Norway"]],
        words: [
            "- countries: no key leads to a user, and its only sampled row holds no value that",
            "- visits: no key or name leads to a user, and it is empty; DECIDE: 'ip_address'",
        ]
    )
}
