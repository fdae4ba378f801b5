import Engine
import Lifecycle
import Testing

@testable import Stores

@Suite("Rules change ids inside values", .serialized) struct InsideShapeTests {
    private static func plain(_ row: String) -> String {
        ["\\u{27}", "\\\\", "\\", "\"", " "].reduce(row) { row, text in
            row.replacing(text, with: text == "\\u{27}" ? "'" : "")
        }
    }

    private static func id(_ row: String) -> Int { Int(row.prefix { $0 != "|" }) ?? 0 }

    private func check(
        _ shape: InsideShape,
        _ before: [String],
        _ app: any ShapeStore
    ) throws {
        let after = try app.dump("t")
        let same = after.filter { before.contains($0) }
        let changed = after.filter { !before.contains($0) }.sorted { Self.id($0) < Self.id($1) }
        #expect(changed.map(Self.plain) == shape.changed)
        #expect(same.count == shape.same)
        #expect(after.count == before.count)
    }

    @Test(
        "a purge finishes, is verified, and leaves all other values equal",
        arguments: InsideShape.all,
        ShapeKind.allCases
    )
    func purge(shape: InsideShape, kind: ShapeKind) async throws {
        guard shape.kinds.contains(kind) else { return }
        let app = try kind.open(shape.sql)
        let before = try app.dump("t")
        let store = app.store(shape.rules)
        #expect(await store.diagnose() == [])
        #expect(await store.verify([order(shape.user)]) != [.clean])
        guard case .items(let items) = await store.plan(order(shape.user)) else {
            Issue.record("no plan")
            return
        }
        let planned = items.filter { $0.name == "t" }.map(\.count).reduce(0, +)
        #expect(planned >= shape.changed.count)
        let answers = await store.purge([order(shape.user)])
        guard case .done? = answers.first else {
            Issue.record("not done: \(answers)")
            return
        }
        try check(shape, before, app)
        #expect(await store.verify([order(shape.user)]) == [.clean])
        _ = await store.purge([order(shape.user)])
        try check(shape, before, app)
    }

    @Test(
        "a purge that is killed behind any transaction is finished by the next one",
        arguments: InsideShape.all,
        ShapeKind.allCases
    )
    func kills(shape: InsideShape, kind: ShapeKind) async throws {
        guard shape.kinds.contains(kind) else { return }
        for transactions in 1...3 {
            let app = try kind.open(shape.sql)
            let before = try app.dump("t")
            _ = await app.store(shape.rules, transactionsMax: transactions)
                .purge([order(shape.user)])
            #expect(await app.store(shape.rules).finishes(order(shape.user)))
            try check(shape, before, app)
        }
    }

    @Test(
        "a user without such values changes nothing",
        arguments: InsideShape.all,
        ShapeKind.allCases
    )
    func others(shape: InsideShape, kind: ShapeKind) async throws {
        guard shape.kinds.contains(kind) else { return }
        let app = try kind.open(shape.sql)
        let before = try app.dump("t")
        let store = app.store(shape.rules)
        for user in ["999", "00000000-0000-0000-0000-0000000000ff"] {
            _ = await store.purge([order(user)])
            #expect(try app.dump("t") == before)
        }
    }

    @Test("more places in one value than a statement changes", arguments: ShapeKind.allCases)
    func many(kind: ShapeKind) async throws {
        let list = Array(repeating: "1,2", count: 40).joined(separator: ",")
        let app = try kind.open(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, d JSON);"
                + "INSERT INTO t VALUES (1, '[\(list)]'), (2, '[1]'), (3, '[2]')"
        )
        let store = app.store([InsideShape.rule("d", InsideShape.json("$[*]"))])
        _ = await store.purge([order("1")])
        #expect(await store.verify([order("1")]) == [.clean])
        let rest = Array(repeating: "2", count: 40).joined(separator: ",")
        #expect(try app.dump("t").map(Self.plain) == ["1|[\(rest)]", "2|[]", "3|[2]"])
    }

    /// Rows in which the id may well stand, though no rule can say where.
    static let doubtful = [
        ("('1, 2')", InsideValue.list(separator: ","), MaskStrategy.remove, "2"),
        ("('x,y')", .list(separator: ","), .remove, "x,y"),
        ("('@1 is gone')", .text(before: "@", after: ""), .text("@1 was here"), "1"),
        ("('0')", .list(separator: ","), .text("0"), "0"),
    ]

    @Test(
        "an id that may stand there in another way is never called erased",
        arguments: doubtful,
        ShapeKind.allCases
    )
    func doubts(
        value: (row: String, inside: InsideValue, strategy: MaskStrategy, user: String),
        kind: ShapeKind
    ) async throws {
        let app = try kind.open(
            "CREATE TABLE t(d VARCHAR(50), id INTEGER PRIMARY KEY);"
                + "INSERT INTO t(d, id) VALUES \(value.row.dropLast()), 1)"
        )
        let store = app.store([InsideShape.rule("d", value.inside, value.strategy)])
        let before = try app.dump("t")
        _ = await store.purge([order(value.user)])
        #expect(try app.dump("t") == before)
        let blocked = EffectFailure.blocked(Obstacle(.spelling, at: "t", name: "d"))
        #expect(await store.verify([order(value.user)]) == [.failure(blocked)])
    }

    @Test("a list with a NUL is left as it is and never called erased")
    func listWithNUL() async throws {
        let app = try AppDatabase(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, d TEXT); INSERT INTO t VALUES"
                + " (1, 'u1,u2' || char(0) || 'tail,u3'), (2, 'u1,u4')"
        )
        let store = app.store(InsideShape.rule("d", .list(separator: ",")))
        let before = try app.texts("SELECT hex(d) FROM t WHERE id = 1")
        let blocked = EffectFailure.blocked(Obstacle(.spelling, at: "t", name: "d"))
        for user in ["u1", "u2", "u3"] {
            _ = await store.purge([order(user)])
            #expect(try app.texts("SELECT hex(d) FROM t WHERE id = 1") == before)
            #expect(await store.verify([order(user)]) == [.failure(blocked)])
        }
        #expect(await store.verify([order("u4")]) != [.clean])
        _ = await store.purge([order("u4")])
        #expect(await store.verify([order("u4")]) == [.clean])
    }

    @Test("a number above all integers of SQLite is found by its digits")
    func large() async throws {
        let app = try AppDatabase(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, d TEXT); INSERT INTO t VALUES"
                + " (1, '[12345678901234567890,12345678901234567891,7]')"
        )
        let store = app.store(InsideShape.rule("d", InsideShape.json("$[*]")))
        _ = await store.purge([order("12345678901234567890")])
        #expect(await store.verify([order("12345678901234567890")]) == [.clean])
        let rest = try app.texts("SELECT d FROM t")
        #expect(rest == ["\"[12345678901234567891,7]\""])
    }

    @Test("JSON that PostgreSQL cannot read concerns only the users in it")
    func unreadable() async throws {
        let app = try ShapeKind.postgresql.open(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, d JSON); INSERT INTO t VALUES"
                + " (1, '{\"by\":\"u1\",\"x\":\"\\u0000\"}'),"
                + " (2, '{\"by\":\"u2\",\"x\":1e999999}'), (3, '{\"by\":\"u3\"}')"
        )
        let store = app.store([InsideShape.rule("d", InsideShape.json("$.by"))])
        let blocked = EffectFailure.blocked(Obstacle(.spelling, at: "t", name: "d"))
        for user in ["u1", "u2"] {
            _ = await store.purge([order(user)])
            #expect(await store.verify([order(user)]) == [.failure(blocked)])
        }
        _ = await store.purge([order("u3")])
        #expect(await store.verify([order("u3")]) == [.clean])
        #expect(try app.dump("t").contains("3|{}"))
    }

    @Test("a text that is no JSON and has the id is never called erased")
    func broken() async throws {
        let app = try AppDatabase(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, d); INSERT INTO t VALUES (1, '{\"x\":[7,'),"
                + " (2, '[8]'), (3, x'00'), (4, 5)"
        )
        let store = app.store(InsideShape.rule("d", InsideShape.json("$[*]")))
        let blocked = EffectFailure.blocked(Obstacle(.spelling, at: "t", name: "d"))
        #expect(await store.verify([order("7")]) == [.failure(blocked)])
        #expect(await store.verify([order("9")]) == [.clean])
        _ = await store.purge([order("8")])
        #expect(await store.verify([order("8")]) == [.clean])
        #expect(try app.texts("SELECT d FROM t WHERE id = 2") == ["\"[]\""])
    }

    @Test(
        "the receipt says where a rule looked, and the check what no rule lists",
        arguments: ShapeKind.allCases
    )
    func receipt(kind: ShapeKind) async throws {
        let app = try kind.open(InsideShape.objects.sql)
        let store = app.store(InsideShape.objects.rules)
        let advice = await store.inspect(withOutages: true).advice.map(\.text)
        #expect(advice.contains { $0.hasPrefix("all rules find ids inside values") }, "\(advice)")
        #expect(advice.contains { $0.contains("every purge reads the whole table") }, "\(advice)")
        let answers = await store.purge([order("1")]).map(\.text)
        let entry = "t anonymize: team, d only at $.list[*].id, cutoff: none 3"
        #expect(answers == [entry])
        let users = try kind.open(InsideShape.mentions.sql)
        let found = await users.store(InsideShape.mentions.rules).inspect(withOutages: true)
        #expect(found.problems == [])
        #expect(!found.advice.map(\.text).contains { $0.hasPrefix("all rules find") })
        #expect(try users.dump("users").count == 4)
    }

    @Test("the user's row waits for the values that are found by it", arguments: ShapeKind.allCases)
    func waits(kind: ShapeKind) async throws {
        let app = try kind.open(InsideShape.mentions.sql)
        let hold = StoreHold(
            name: "dispute",
            store: StoreName("app-db"),
            rows: RowFilter(
                table: "t",
                conditions: [RowFilter.Condition(column: "id", values: ["1"])]
            ),
            since: present,
            uid: 0
        )
        let store = app.store(InsideShape.mentions.rules)
        guard case .held? = await store.purge([order("1", holds: [hold])]).first else {
            Issue.record("not held")
            return
        }
        #expect(try app.dump("users").count == 4)
        _ = await store.purge([order("1")])
        #expect(try app.dump("users").count == 3)
        #expect(await store.verify([order("1")]) == [.clean])
    }

    static let refused: [(sql: String, rule: TableRule, kinds: [ShapeKind], words: String)] = [
        (
            "CREATE TABLE t(id INTEGER PRIMARY KEY, d TEXT)", InsideShape.rule("d", .array),
            [.sqlite, .mysql], "is no array; use inside = \"json\""
        ),
        (
            "CREATE TABLE t(id INTEGER PRIMARY KEY, d TEXT)",
            InsideShape.rule("d", InsideShape.json("$.a")), [.postgresql],
            "inside = \"json\" is for json and jsonb"
        ),
        (
            "CREATE TABLE t(id INTEGER PRIMARY KEY, d INTEGER)",
            InsideShape.rule("d", .list(separator: ",")), [.postgresql, .mysql], "holds no"
        ),
        (
            "CREATE TABLE t(id INTEGER PRIMARY KEY, d BYTEA[])", InsideShape.rule("d", .array),
            [.postgresql], "is for arrays of integers, texts and UUIDs"
        ),
        (
            "CREATE TABLE t(id INTEGER PRIMARY KEY, d INTEGER[])", InsideShape.rule("d", .array),
            [.postgresql], "which id_type \"text\" never matches"
        ),
        (
            "CREATE TABLE t(id INTEGER PRIMARY KEY, d VARCHAR(50) UNIQUE)",
            InsideShape.rule("d", .list(separator: ",")), ShapeKind.allCases,
            "is unique, so a part of it cannot be changed"
        ),
        (
            "CREATE TABLE t(id INTEGER PRIMARY KEY, d VARCHAR(50));"
                + "CREATE TABLE users(id VARCHAR(50) PRIMARY KEY, name VARCHAR(50))",
            InsideShape.rule("d", .text(before: "@", after: ""), via: "users.name"),
            ShapeKind.allCases, "is not unique, so what stands inside 'd' may be another user's"
        ),
    ]

    @Test("what cannot be expressed is refused", arguments: refused)
    func refuses(
        shape: (sql: String, rule: TableRule, kinds: [ShapeKind], words: String)
    ) async throws {
        for kind in shape.kinds {
            let users = TableRule(table: "users", column: "id", action: .delete)
            let app = try kind.open(shape.sql)
            let store = app.store([shape.rule] + (shape.rule.via == nil ? [] : [users]))
            let problems = await store.diagnose()
            #expect(problems.contains { $0.contains(shape.words) }, "\(kind): \(problems)")
            #expect(await store.purge([order("1")]) == [.failure(.misconfigured)])
            #expect(try app.dump("t") == [])
        }
    }
}
