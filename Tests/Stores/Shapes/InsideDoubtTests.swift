import Engine
import Lifecycle
import Testing

@testable import Stores

/// Values in which a rule cannot see, or cannot change, what is the user's.
struct InsideDoubt: Sendable, CustomTestStringConvertible {
    let name: String
    /// The type of the column `d`, and its value as SQL.
    let type: String
    let value: String
    let rule: TableRule
    let user: String
    var kinds: [ShapeKind] = [.sqlite, .mysql]

    var testDescription: String { name }

    func sql(_ kind: ShapeKind) -> String {
        let value = kind == .mysql ? value.replacing("\\", with: "\\\\") : value
        return "CREATE TABLE t(id INTEGER PRIMARY KEY, u VARCHAR(50), d \(type));"
            + "INSERT INTO t VALUES (1, 'owner', \(value))"
    }

    private static func found(
        _ name: String,
        _ value: String,
        at path: String = "$.user",
        by user: String,
        in kinds: [ShapeKind] = [.sqlite, .mysql],
        _ strategy: MaskStrategy = .remove
    ) -> InsideDoubt {
        let rule = InsideShape.rule("d", InsideShape.json(path), strategy)
        return InsideDoubt(
            name: name,
            type: "JSON",
            value: "'\(value)'",
            rule: rule,
            user: user,
            kinds: kinds
        )
    }

    /// A part of the owner's own row.
    private static func own(
        _ name: String,
        _ value: String,
        _ strategy: MaskStrategy = .remove,
        type: String = "JSON",
        in kinds: [ShapeKind] = [.sqlite, .mysql]
    ) -> InsideDoubt {
        InsideDoubt(
            name: name,
            type: type,
            value: "'\(value)'",
            rule: InsideShape.rule("u", nil, strategy, at: "$.ip", of: "d"),
            user: "owner",
            kinds: kinds
        )
    }

    static let all =
        [
            found("a name with an escape", #"{"\u0075ser":5,"x":[6]}"#, by: "5"),
            found(
                "an escape in a name below",
                #"{"list":[{},{"\u0069d":"5"}]}"#,
                at: path,
                by: "5"
            ),
            found("an escape in a name above", #"{"l\u0069st":[{"id":5.0}]}"#, at: path, by: "5"),
            found("escapes in name and value", #"{"\u0075ser":"\u0061nn"}"#, by: "ann"),
            found(
                "a doubled name",
                #"{"user":5,"user":7,"user":6}"#,
                by: "7",
                in: ShapeKind.allCases
            ),
            found(
                "a doubled name below",
                #"{"list":[{"id":1}],"list":[],"list":[{"id":2},{"id":3,"id":5,"id":4}],"list":7}"#,
                at: path,
                by: "5",
                in: ShapeKind.allCases
            ),
            found("a NUL", #"{"user":"\u0061nn","x":"\u0000"}"#, by: "ann", in: postgreSQL),
            found("half a character", #"{"user":"ann","x":"\ud800"}"#, by: "ann", in: postgreSQL),
            found(
                "its other half",
                #"{"x":"\udc00.","user":"\u0061nn"}"#,
                by: "ann",
                in: postgreSQL
            ),
            found(
                "a huge number",
                #"{"x":[1e99999],"user":"\u0061nn"}"#,
                by: "ann",
                in: postgreSQL
            ),
            InsideDoubt(
                name: "arrays in an array",
                type: "INTEGER[]",
                value: "'{{1,2},{3,4}}'",
                rule: InsideShape.rule("d", .array, type: .integer),
                user: "1",
                kinds: [.postgresql]
            ),
        ] + broken + [
            own("an own part by a name with an escape", #"{"\u0069p":"9"}"#),
            own("an own part that is no JSON", #"{"ip":"9""#, type: "TEXT"),
            own(
                "an own part with two names",
                #"{"ip":"9","ip":"?"}"#,
                .text("?"),
                in: [.postgresql]
            ),
            own("an own part beside a NUL", #"{"ip":"9","x":"\u0000"}"#, in: [.postgresql]),
        ]

    /// Texts that are no JSON, with the id in escapes only.
    private static let broken = [
        ("an escape", #"{"user":"\u0061nn""#, "ann"),
        ("escapes around", #"{"a":"\"\\\/\q\uzz","user":"a\u006En"\"#, "ann"),
        ("a pair", #"{"user":"\ud83d\uDE00""#, "\u{1f600}"),
        ("half a pair before", #"{"x":"\ud83d","user":"\ud83dann""#, "ann"),
        ("a quotation mark", #"{"user":"a\"b""#, "a\"b"),
        ("a backslash", #"{"user":"a\\b""#, "a\\b"),
        ("a slash", #"{"user":"a\/b""#, "a/b"),
    ]
    .map { name, value, user in
        InsideDoubt(
            name: "no JSON: \(name)",
            type: "TEXT",
            value: "'\(value)'",
            rule: InsideShape.rule("d", InsideShape.json("$.user")),
            user: user
        )
    }

    private static let path = "$.list[*].id"
    private static let postgreSQL = [ShapeKind.postgresql]
}

@Suite("What no rule can judge inside a value", .serialized) struct InsideDoubtTests {
    @Test(
        "is left as it is, and never called erased",
        arguments: InsideDoubt.all,
        ShapeKind.allCases
    )
    func doubts(doubt: InsideDoubt, kind: ShapeKind) async throws {
        guard doubt.kinds.contains(kind) else { return }
        let app = try kind.open(doubt.sql(kind))
        let before = try app.dump("t")
        let store = app.store([doubt.rule])
        #expect(await store.diagnose() == [])
        let answers = await store.purge([order(doubt.user)])
        guard case .done? = answers.first else {
            Issue.record("not done: \(answers)")
            return
        }
        #expect(try app.dump("t") == before)
        let blocked = EffectFailure.blocked(Obstacle(.spelling, at: "t", name: "d"))
        #expect(await store.verify([order(doubt.user)]) == [.failure(blocked)])
        #expect(await store.verify([order("88")]) == [.clean])
        guard let store = store as? SQLiteStore else { return }
        #expect(await store.verifyInPieces(order(doubt.user)) == .failure(blocked))
    }

    @Test(
        "a text that is too long for the functions of MySQL is never called free of an id",
        arguments: [
            ("ann,", InsideValue.list(separator: ",")),
            ("{\"user\":\"ann", InsideShape.json("$.user")),
        ] as [(String, InsideValue?)]
    )
    func tooLong(start: String, inside: InsideValue?) async throws {
        // 18 MB of UTF-8; MariaDB's `max_allowed_packet` is 16 MiB.
        let app = try ShapeKind.mysql.open(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, d LONGTEXT CHARACTER SET latin1);"
                + "INSERT INTO t VALUES (1, CONCAT(_latin1 '\(start)',"
                + " REPEAT(_latin1 X'E9', 9000000)))"
        )
        let store = app.store([InsideShape.rule("d", inside)])
        let blocked = EffectFailure.blocked(Obstacle(.spelling, at: "t", name: "d"))
        let orders = [order("ann"), order("bo")]
        #expect(await store.verify(orders) == [.failure(blocked), .clean])
    }

    /// How a name stands elsewhere whose column takes `Ann` and `ann` for equal, and what a purge
    /// leaves of it; `nil` where it cannot be changed.
    static let names: [(type: String, value: String, inside: InsideValue?, left: String?)] = [
        ("JSON", #"'["ANN","anna","Ann"]'"#, InsideShape.json("$[*]"), "1|[anna]"),
        ("JSON", #"'{"by":"ann"}'"#, InsideShape.json("$.by"), "1|{}"),
        ("VARCHAR(50)", "'(@aNN) @annA'", .text(before: "@", after: ""), "1|() @annA"),
        ("VARCHAR(50)", "'bob,ann'", .list(separator: ","), nil),
    ]

    private static func users(_ kind: ShapeKind) -> String {
        let type =
            switch kind {
            case .sqlite: "TEXT COLLATE NOCASE"
            case .postgresql: "public.citext"
            case .mysql: "VARCHAR(50) COLLATE utf8mb4_general_ci"
            }
        return "CREATE TABLE users(id INTEGER PRIMARY KEY, name \(type) UNIQUE);"
            + "INSERT INTO users VALUES (1, 'Ann'), (2, 'bo');"
    }

    @Test(
        "a name in another case is found, or stops the request",
        arguments: names,
        ShapeKind.allCases
    )
    func otherCase(
        shape: (type: String, value: String, inside: InsideValue?, left: String?),
        kind: ShapeKind
    ) async throws {
        let app = try kind.open(
            Self.users(kind) + "CREATE TABLE t(id INTEGER PRIMARY KEY, d \(shape.type));"
                + "INSERT INTO t VALUES (1, \(shape.value))"
        )
        let user = TableRule(table: "users", column: "id", idType: .integer, action: .delete)
        let rule = InsideShape.rule("d", shape.inside, via: "users.name")
        let store = app.store([user, rule])
        #expect(await store.diagnose() == [])
        let before = try app.dump("t")
        _ = await store.purge([order("2")])
        #expect(await store.verify([order("2")]) == [.clean])
        #expect(try app.dump("t") == before)
        if shape.left == nil {
            let blocked = EffectFailure.blocked(Obstacle(.spelling, at: "t", name: "d"))
            for _ in 1...2 {
                _ = await store.purge([order("1")])
                // The row that says what to look for stays.
                #expect(try app.dump("users").count == 1)
                #expect(await store.verify([order("1")]) == [.failure(blocked)])
                guard let store = store as? SQLiteStore else { continue }
                #expect(await store.verifyInPieces(order("1")) == .failure(blocked))
            }
            try app.run("DELETE FROM t")
        }
        _ = await store.purge([order("1")])
        #expect(await store.verify([order("1")]) == [.clean])
        let left = try app.dump("t").map { $0.replacing("\\", with: "").replacing("\"", with: "") }
        #expect(left == [shape.left].compactMap(\.self))
        #expect(try app.dump("users") == [])
    }

    @Test(
        "a name in another case and a text that is no JSON",
        arguments: [ShapeKind.sqlite, .mysql]
    )
    func brokenInOtherCase(kind: ShapeKind) async throws {
        let app = try kind.open(
            Self.users(kind) + "CREATE TABLE t(id INTEGER PRIMARY KEY, d VARCHAR(50));"
                + "INSERT INTO t VALUES (1, '[\"ANN\"')"
        )
        let user = TableRule(table: "users", column: "id", idType: .integer, action: .delete)
        let store = app.store([
            user, InsideShape.rule("d", InsideShape.json("$[*]"), via: "users.name"),
        ])
        let blocked = EffectFailure.blocked(Obstacle(.spelling, at: "t", name: "d"))
        _ = await store.purge([order("1"), order("2")])
        #expect(await store.verify([order("1"), order("2")]) == [.failure(blocked), .clean])
        #expect(try app.dump("users").count == 1)
    }

    /// A part of a row of `ann` that cannot be judged, found by her row or by an id that goes, too.
    static let waiting: [(rules: [TableRule], user: String)] = [
        (
            [
                TableRule(table: "users", column: "id", idType: .integer, action: .delete),
                InsideShape.rule("u", nil, at: "$.ip", of: "d", via: "users.name"),
            ], "1"
        ),
        (
            [
                TableRule(
                    table: "t",
                    column: "u",
                    action: .anonymize([
                        ColumnMask(column: "u", strategy: .null),
                        ColumnMask(column: "d", strategy: .remove, path: JSONPath("$.ip")),
                    ]),
                    reason: "team"
                )
            ], "ann"
        ),
    ]

    @Test(
        "what finds a part waits until the part can be judged",
        arguments: waiting,
        ShapeKind.allCases
    )
    func waits(shape: (rules: [TableRule], user: String), kind: ShapeKind) async throws {
        let (type, broken) =
            kind == .postgresql
            ? ("JSON", #"{"ip":"9","x":"\u0000"}"#) : ("TEXT", #"{"ip":"9""#)
        let app = try kind.open(
            "CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT UNIQUE);"
                + "CREATE TABLE t(id INTEGER PRIMARY KEY, u TEXT, d \(type));"
                + "INSERT INTO users VALUES (1, 'ann'), (2, 'bo');"
                + "INSERT INTO t VALUES (1, 'ann', '\(broken)'), (2, 'bo', '\(broken)')"
        )
        let store = app.store(shape.rules)
        #expect(await store.diagnose() == [])
        let before = try app.dump(["users", "t"])
        let blocked = EffectFailure.blocked(Obstacle(.spelling, at: "t", name: "d"))
        for _ in 1...2 {
            guard case .done? = await store.purge([order(shape.user)]).first else {
                Issue.record("not done")
                return
            }
            #expect(try app.dump(["users", "t"]) == before)
            #expect(await store.verify([order(shape.user)]) == [.failure(blocked)])
            guard let store = store as? SQLiteStore else { continue }
            #expect(await store.verifyInPieces(order(shape.user)) == .failure(blocked))
        }
        try app.run("UPDATE t SET d = '{\"ip\":\"9\"}' WHERE id = 1")
        _ = await store.purge([order(shape.user)])
        #expect(await store.verify([order(shape.user)]) == [.clean])
        #expect(try app.dump("t").filter { $0.contains("ip") }.count == 1)
    }

    @Test("what rows wait for is named before what nothing waits for")
    func cause() async throws {
        let app = try AppDatabase(
            Self.users(.sqlite) + "CREATE TABLE t(id INTEGER PRIMARY KEY, d TEXT);"
                + "CREATE TABLE notes(u INTEGER); INSERT INTO notes VALUES ('\u{ff11}');"
                + "INSERT INTO t VALUES (1, '[\"Ann\"')"
        )
        let store = app.store(
            TableRule(table: "notes", column: "u", idType: .integer, action: .delete),
            TableRule(table: "users", column: "id", idType: .integer, action: .delete),
            InsideShape.rule("d", InsideShape.json("$[*]"), via: "users.name")
        )
        _ = await store.purge([order("1")])
        let blocked = EffectFailure.blocked(Obstacle(.spelling, at: "t", name: "d"))
        #expect(await store.verify([order("1")]) == [.failure(blocked)])
        #expect(await store.verifyInPieces(order("1")) == .failure(blocked))
        try app.execute("DELETE FROM t")
        _ = await store.purge([order("1")])
        let named = EffectFailure.blocked(Obstacle(.spelling, at: "notes", name: "u"))
        #expect(await store.verify([order("1")]) == [.failure(named)])
    }

    @Test("rows that wait for nothing are purged again, whatever stays beside them")
    func uncaused() async throws {
        let app = try AppDatabase(
            Self.users(.sqlite) + "CREATE TABLE t(id INTEGER PRIMARY KEY, u TEXT, d TEXT);"
                + "INSERT INTO t VALUES (1, '1', '{\"ip\":\"9\"')"
        )
        let store = app.store(
            TableRule(table: "users", column: "id", idType: .integer, action: .delete),
            InsideShape.rule("u", nil, at: "$.ip", of: "d")
        )
        let blocked = EffectFailure.blocked(Obstacle(.spelling, at: "t", name: "d"))
        #expect(await store.verify([order("1")]) == [.remaining(1)])
        #expect(await store.verifyInPieces(order("1")) == .remaining(1))
        _ = await store.purge([order("1")])
        #expect(await store.verify([order("1")]) == [.failure(blocked)])
        #expect(await store.verifyInPieces(order("1")) == .failure(blocked))
    }

    @Test("a value stays bytes where it was bytes")
    func bytes() async throws {
        let app = try AppDatabase(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, j BLOB, l BLOB, x BLOB); INSERT INTO t VALUES"
                + " (1, CAST('[\"u\",2]' AS BLOB), CAST('u,v' AS BLOB), CAST('a @u b' AS BLOB)),"
                + " (2, '[\"u\",2]', 'u,v', 'a @u b')"
        )
        let rules = [
            InsideShape.rule("j", InsideShape.json("$[*]")),
            InsideShape.rule("l", .list(separator: ",")),
            InsideShape.rule("x", .text(before: "@", after: ""), .text("?")),
        ]
        let store = app.store(rules)
        _ = await store.purge([order("u")])
        #expect(await store.verify([order("u")]) == [.clean])
        let columns = "CAST(j AS TEXT), CAST(l AS TEXT), CAST(x AS TEXT)"
        let rows = try app.texts("SELECT typeof(j), typeof(l), typeof(x), \(columns) FROM t")
        let values = "\"[2]\"|\"v\"|\"a ? b\""
        #expect(
            rows == [
                "\"blob\"|\"blob\"|\"blob\"|" + values, "\"text\"|\"text\"|\"text\"|" + values,
            ]
        )
    }

    @Test("bytes that are no text are left as they are, and never called erased")
    func garbled() async throws {
        let app = try AppDatabase(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, d BLOB);"
                + "INSERT INTO t VALUES (1, x'ff2040752e'), (2, x'ff20407576')"
        )
        let rule = InsideShape.rule("d", .text(before: "@", after: ""), .text("?"))
        let store = app.store(rule)
        let blocked = EffectFailure.blocked(Obstacle(.spelling, at: "t", name: "d"))
        _ = await store.purge([order("u")])
        #expect(await store.verify([order("u")]) == [.failure(blocked)])
        #expect(await store.verify([order("w")]) == [.clean])
        #expect(try app.texts("SELECT hex(d) FROM t") == ["\"FF2040752E\"", "\"FF20407576\""])
    }
}
