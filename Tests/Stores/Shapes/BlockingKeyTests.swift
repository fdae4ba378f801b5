import Engine
import Lifecycle
import Testing

@testable import Stores

@Suite("Foreign keys by which a deletion never ends, in every kind of database", .serialized)
struct BlockingKeyTests {
    /// What a user's rows are referred to by.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let action: String
        /// Of the comments on the post of `a`.
        let comments: String
        /// The column that fails the check.
        var uncovered: [String] = []
        /// Comments when the rules as they are have ended; `nil` where they never do.
        var left: [String]?
    }

    private static let cases = [
        Case(
            testDescription: "a user's own rows",
            action: "NO ACTION",
            comments: "(1, 1, 'a'), (2, 2, 'b')",
            left: ["2|2|b"]
        ),
        Case(
            testDescription: "another user's row",
            action: "NO ACTION",
            comments: "(1, 1, 'a'), (2, 1, 'b')",
            uncovered: ["comments.post"]
        ),
        Case(
            testDescription: "a row of no user",
            action: "NO ACTION",
            comments: "(1, 1, NULL)",
            uncovered: ["comments.post"]
        ),
        Case(
            testDescription: "another user's row, which goes along",
            action: "CASCADE",
            comments: "(1, 1, 'b'), (2, 2, 'a')",
            left: []
        ),
    ]

    private static func posts(_ example: Case) -> String {
        """
        CREATE TABLE users(id TEXT PRIMARY KEY);
        CREATE TABLE posts(id INTEGER PRIMARY KEY,
            u TEXT REFERENCES users ON DELETE \(example.action));
        CREATE TABLE comments(id INTEGER PRIMARY KEY,
            post INTEGER REFERENCES posts ON DELETE \(example.action), u TEXT);
        CREATE INDEX pu ON posts(u); CREATE INDEX cu ON comments(u);
        INSERT INTO users VALUES ('a'), ('b'); INSERT INTO posts VALUES (1, 'a'), (2, 'b');
        INSERT INTO comments VALUES \(example.comments);
        """
    }

    private static let rules = [
        SchemaShape.rule("users", "id"), SchemaShape.rule("posts", "u"),
        SchemaShape.rule("comments", "u"),
    ]
    private static let remedy =
        "table = \"comments\", column = \"post\", via = \"posts.id\", action = \"anonymize\", set ="
        + " { post = { strategy = \"null\" } }, keep_reason = \"WHY\". With action = \"delete\""
        + " whole rows go instead, also those that belong to other users"
    private static let sentences = [
        "CASCADE": "deleting from 'posts' cascades into 'comments' by 'post': rows there that are"
            + " of other users go with it and count as the user's, also while such a user is held;"
            + " if they are to stay, a rule for it takes that reference away first: " + remedy,
        "NO ACTION": "rows of other users in 'comments' refer to 'posts' by 'post' and can stop the"
            + " deletion of a user; a rule for it takes that reference away first: " + remedy,
    ]

    @Test(
        "rows of others below a user's fail the check where they stop a deletion, with the rule",
        arguments: cases,
        ShapeKind.allCases
    )
    func othersRows(example: Case, kind: ShapeKind) async throws {
        let app = try kind.open(Self.posts(example))
        let store = app.store(Self.rules)
        let found = await store.inspect(withOutages: true)
        #expect(found.problems == [])
        let sentence = try #require(Self.sentences[example.action])
        #expect(found.uncovered.map(\.name) == example.uncovered)
        #expect(found.uncovered.map(\.reason) == example.uncovered.map { _ in sentence })
        #expect(found.advice.map(\.text).contains(sentence) == example.uncovered.isEmpty)
        let answer = await store.purge([order("a")])
        if let left = example.left {
            #expect(answer.first?.isDone == true, "\(answer)")
            #expect(try app.dump("comments") == left)
        } else {
            #expect(answer.first?.isBlockedByKey == true, "\(answer)")
            try await mend(app)
        }
    }

    /// Adds the rule that the check names; the others' rows stay.
    private func mend(_ app: any ShapeStore) async throws {
        let rule = SchemaShape.rule(
            "comments",
            "post",
            via: "posts.id",
            SchemaShape.null("post")
        )
        let store = app.store(Self.rules + [rule])
        let found = await store.inspect(withOutages: true)
        #expect(found.problems == [] && found.uncovered == [])
        let others = try app.dump("comments").filter { !$0.hasSuffix("|a") }
        let answer = await store.purge([order("a")])
        #expect(answer.first?.isDone == true, "\(answer)")
        #expect(await store.verify([order("a")]) == [.clean])
        #expect(try app.dump("comments") == others.map { $0.replacing("|1|", with: "||") })
    }

    @Test("columns of two collations cannot be compared, and prove nothing")
    func collations() async throws {
        let sql = Self.posts(Self.cases[1])
            .replacing("u TEXT);", with: "u TEXT COLLATE \"C\");")
            .replacing("u TEXT REFERENCES", with: "u TEXT COLLATE \"POSIX\" REFERENCES")
        let app = try ShapeKind.postgresql.open(sql)
        let found = await app.store(Self.rules).inspect(withOutages: true)
        #expect(found.problems == [] && found.uncovered == [])
        #expect(found.advice.map(\.text).contains(try #require(Self.sentences["NO ACTION"])))
    }

    @Test("a tree without a rule for what is below stays whole", arguments: ShapeKind.allCases)
    func tree(kind: ShapeKind) async throws {
        let app = try kind.open(SchemaShape.treeDeleted.sql)
        let store = app.store([SchemaShape.rule("notes", "u")])
        let found = await store.inspect(withOutages: true)
        #expect(found.problems == [] && found.uncovered.map(\.name) == ["notes.up"])
        let before = try app.dump("notes")
        let blocked = await store.purge([order("a")])
        guard case .failure(.blocked(let obstacle)) = blocked[0] else {
            Issue.record("not blocked: \(blocked)")
            return
        }
        #expect((obstacle.kind, obstacle.place) == (.foreignKey, "notes"))
        #expect(await store.verify([order("a")]) != [.clean])
        #expect(try app.dump("notes") == before)
        // Nothing of others is below these.
        let answer = await store.purge([order("c")])
        #expect(answer.first?.isDone == true, "\(answer)")
        #expect(try app.dump("notes") == before.filter { !$0.hasSuffix("|c") })
    }

    // MARK: Circles

    private static let circle = """
        CREATE TABLE a(u TEXT, id INTEGER PRIMARY KEY);
        CREATE TABLE b(u TEXT, id INTEGER PRIMARY KEY, a INTEGER REFERENCES a);
        ALTER TABLE a ADD COLUMN b INTEGER REFERENCES b;
        INSERT INTO a(u, id) VALUES ('x', 1), ('y', 2);
        INSERT INTO b VALUES ('x', 1, 1), ('y', 2, 2); UPDATE a SET b = id;
        """
    private static let circleRules = [SchemaShape.rule("a", "u"), SchemaShape.rule("b", "u")]
    private static let circleRemedy =
        "table = \"b\", column = \"a\", via = \"a.id\", action = \"anonymize\""

    @Test(
        "tables that refer to each other: the check says what becomes of them, with the rule",
        arguments: ShapeKind.allCases
    )
    func circle(kind: ShapeKind) async throws {
        let app = try kind.open(Self.circle)
        let store = app.store(Self.circleRules)
        let found = await store.inspect(withOutages: true)
        let answer = await store.purge([order("x")])
        switch kind {
        case .sqlite:
            // The keys are checked when the transaction ends.
            #expect(found.problems == [] && found.uncovered == [])
            let advice = found.advice.map(\.text)
            let sentence = try #require(advice.first { $0.contains("in a circle") })
            #expect(sentence.contains(Self.circleRemedy))
            #expect(
                answer.map(\.text) == ["a delete, cutoff: none 1; b delete, cutoff: none 1"]
            )
            #expect(try app.dump("a") == ["y|2|2"])
        case .postgresql:
            #expect(found.problems == [])
            #expect(found.uncovered.map(\.name) == ["b.a"])
            #expect(found.uncovered.allSatisfy { $0.reason.contains(Self.circleRemedy) })
            #expect(answer.first?.isBlockedByKey == true, "\(answer)")
        case .mysql:
            #expect(found.problems.count == 1)
            #expect(found.problems.allSatisfy { $0.text.contains(Self.circleRemedy) })
            #expect(answer == [.failure(.misconfigured)])
        }
    }

    @Test(
        "a circle in which a rule clears a reference goes in order, whatever the file's",
        arguments: ShapeKind.allCases
    )
    func clearedCircle(kind: ShapeKind) async throws {
        let clearing = SchemaShape.rule("b", "a", via: "a.id", SchemaShape.null("a"))
        for rules in [Self.circleRules + [clearing], [clearing] + Self.circleRules.reversed()] {
            let app = try kind.open(Self.circle)
            let store = app.store(rules)
            let found = await store.inspect(withOutages: true)
            #expect(found.problems == [] && found.uncovered == [])
            let isCircle = found.advice.contains { $0.text.contains("in a circle") }
            #expect(!isCircle, "\(found.advice)")
            let answer = await store.purge([order("x")])
            #expect(answer.first?.isDone == true, "\(answer)")
            #expect(await store.verify([order("x")]) == [.clean])
            #expect(try app.dump(["a", "b"]) == ["a": ["y|2|2"], "b": ["y|2|2"]])
        }
    }

    @Test("keys that a transaction can check at its end stop nothing")
    func deferrable() async throws {
        let app = try ShapeKind.postgresql.open(
            Self.circle.replacing("REFERENCES b", with: "REFERENCES b DEFERRABLE")
                .replacing("REFERENCES a", with: "REFERENCES a DEFERRABLE")
        )
        let store = app.store(Self.circleRules)
        #expect(await store.inspect(withOutages: true).uncovered == [])
        let answer = await store.purge([order("x")])
        #expect(answer.first?.isDone == true, "\(answer)")
        #expect(try app.dump(["a", "b"]) == ["a": ["y|2|2"], "b": ["y|2|2"]])
    }

    @Test("a circle without rows in it fails no check") func emptyCircle() async throws {
        let app = try ShapeKind.postgresql.open(Self.circle)
        try app.run("UPDATE b SET a = NULL")
        let found = await app.store(Self.circleRules).inspect(withOutages: true)
        #expect(found.problems == [] && found.uncovered == [])
        #expect(found.advice.map(\.text).contains { $0.contains(Self.circleRemedy) })
    }
}

extension PurgeAnswer {
    fileprivate var isDone: Bool {
        guard case .done = self else { return false }
        return true
    }

    fileprivate var isBlockedByKey: Bool {
        guard case .failure(.blocked(let obstacle)) = self else { return false }
        return obstacle.kind == .foreignKey
    }
}
