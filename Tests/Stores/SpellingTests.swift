import Engine
import GRDB
import Lifecycle
import Testing

@testable import Stores

/// One id as a request writes it, and one row that came after the store had made its plan.
struct SpellingTry: Sendable, CustomStringConvertible {
    /// The type of the column, with its collation.
    let column: String
    let idType: IDType
    /// As a literal of SQL.
    let row: String
    let request: String

    var description: String { "\(request) of \(row) in \(column)" }

    static func all(
        _ columns: [String],
        _ idType: IDType,
        rows: [String],
        requests: [String]
    ) -> [SpellingTry] {
        columns.flatMap { column in
            rows.flatMap { row in
                requests.map {
                    SpellingTry(column: column, idType: idType, row: row, request: $0)
                }
            }
        }
    }

    static let uuid = "0190a5f0-c0de-7000-8000-00000000abcd"
    private static let digits = uuid.replacing("-", with: "")
    /// The same UUID, as programs write it.
    static let uuids = [
        uuid, uuid.uppercased(), digits, digits.uppercased(), "{\(uuid)}", "{\(digits)}",
        "0190-a5f0-c0de-7000-8000-0000-0000-abcd", "0190A5f0-c0de-7000-8000-00000000abcd",
        "urn:uuid:\(uuid)", " \(uuid)",
    ]
    /// The same number, as programs write it.
    static let numbers = [
        "42", " 42", "42 ", "042", "+42", "42.0", "4.2e1", "420E-1", "\u{ff14}\u{ff12}",
        "\u{664}\u{662}", "0x2A", "4_2",
    ]

    static let sqlite =
        all(["INTEGER", "NUMERIC", ""], .integer, rows: ["42"], requests: numbers)
        + all(
            ["INTEGER", "NUMERIC", ""],
            .integer,
            rows: numbers.map { "'\($0)'" } + ["42.0", "x'3432'"],
            requests: ["42"]
        )
        + all(["TEXT COLLATE NOCASE"], .text, rows: ["'Ada'", "'ada'", "'ADA'"], requests: ["Ada"])
        + all(["TEXT COLLATE RTRIM"], .text, rows: ["'Ada'", "'Ada  '"], requests: ["Ada"])
        + all([""], .text, rows: ["'42'", "42", "42.0", "x'3432'"], requests: ["42"])
        + all(["TEXT"], .text, rows: ["x'3432'", "42"], requests: ["42"])
        + all(["BLOB"], .blob, rows: ["x'\(digits)'"], requests: uuids)
        + all(["BLOB"], .blob, rows: uuids.map { "'\($0)'" }, requests: [uuid])
        // Ids that no column of the type should hold.
        + all(
            ["INTEGER", "NUMERIC", ""],
            .integer,
            rows: ["'abc'", "x'616263'"],
            requests: ["abc"]
        )
        + all(["INTEGER COLLATE NOCASE"], .integer, rows: ["'ABC'"], requests: ["abc"])
        + all(["BLOB", ""], .blob, rows: ["'abc'", "x'616263'"], requests: ["abc"])
        + all(["BLOB"], .blob, rows: ["'abcd'", "x'61626364'"], requests: ["abcd"])
        + all(["BLOB"], .blob, rows: ["8"], requests: ["8"])

    static let mysql =
        all(["uuid"], .uuid, rows: ["'\(uuid)'"], requests: uuids)
        + all(
            ["varbinary(99)", "blob"],
            .blob,
            rows: ["x'\(digits)'"],
            requests: uuids + ["\\x\(digits)"]
        )
        + all(["binary(16)"], .blob, rows: ["x'\(digits)'"], requests: uuids)
        + all(["binary(4)", "varbinary(9)"], .blob, rows: ["x'abcd'"], requests: ["abcd", "ABCD"])
        + all(["varbinary(9)"], .blob, rows: ["'abc'"], requests: ["abc"])
        + all(["varbinary(9)"], .blob, rows: ["'abcd'"], requests: ["abcd"])
        + all(
            ["smallint", "bigint", "bigint unsigned", "int zerofill", "decimal(20)"],
            .integer,
            rows: ["42"],
            requests: numbers
        )
        + all(
            ["bigint unsigned"],
            .integer,
            rows: ["18446744073709551615"],
            requests: ["18446744073709551615"]
        )
        + all(
            [
                "varchar(9) COLLATE utf8mb4_general_ci", "char(9) COLLATE utf8mb4_general_ci",
                "varchar(9) CHARACTER SET latin1",
            ],
            .text,
            rows: ["'Ada'", "'ada'", "'ADA '", "'Ada '"],
            requests: ["Ada"]
        )
        + all(
            ["varchar(9) COLLATE utf8mb4_bin", "char(9) COLLATE utf8mb4_bin"],
            .text,
            rows: ["'Ada'", "'Ada '"],
            requests: ["Ada"]
        )
        + all(["binary(9)", "varbinary(9)"], .text, rows: ["'Ada'"], requests: ["Ada"])
        + all(
            ["char(9) COLLATE utf8mb4_nopad_bin", "char(9)"],
            .text,
            rows: ["'Ada'"],
            requests: ["Ada "]
        )

    static let postgreSQL =
        all(["uuid"], .uuid, rows: ["'\(uuid)'"], requests: uuids)
        + all(["bytea"], .blob, rows: ["'\\x\(digits)'"], requests: uuids + ["\\x\(digits)"])
        + all(["bytea"], .blob, rows: ["'abc'"], requests: ["abc"])
        + all(["bytea"], .blob, rows: ["'abcd'"], requests: ["abcd"])
        + all(["smallint", "bigint"], .integer, rows: ["42"], requests: numbers)
        + all(
            ["public.citext", "text COLLATE anycase"],
            .text,
            rows: ["'Ada'", "'ada'", "'ADA'"],
            requests: ["Ada"]
        )
}

@Suite("Spellings of one id") struct SpellingTests {
    @Test("there are as many tries as found the fault")
    func count() {
        #expect(SpellingTry.sqlite.count + SpellingTry.postgreSQL.count >= 92)
    }

    @Test("in SQLite each is erased or keeps the request open", arguments: SpellingTry.sqlite)
    func sqlite(spelling: SpellingTry) async throws {
        let app = try AppDatabase("CREATE TABLE t(u \(spelling.column)); CREATE INDEX tu ON t(u)")
        let rule = TableRule(table: "t", column: "u", idType: spelling.idType, action: .delete)
        let store = app.store(rule)
        #expect(await store.diagnose() == [])
        try app.execute("INSERT INTO t VALUES (\(spelling.row)), (NULL), (7)")
        let user = order(spelling.request)
        let purged = await store.purge([user])
        let verified = await store.verify([user])
        let left = try app.integer("SELECT count(*) FROM t") - 2
        #expect(try app.integer("SELECT count(*) FROM t WHERE u = 7 OR u IS NULL") == 2)
        let named = VerifyAnswer.failure(.blocked(Obstacle(.spelling, at: "t", name: "u")))
        #expect(left == 0 ? verified == [.clean] : verified == [named], "\(purged) \(left)")
    }

    @Test("a number is erased in every storage class that equals it, and others are left")
    func numbers() async throws {
        let app = try AppDatabase("CREATE TABLE t(u); CREATE INDEX tu ON t(u)")
        let store = app.store(
            TableRule(table: "t", column: "u", idType: .integer, action: .delete)
        )
        #expect(await store.diagnose() == [])
        try app.execute("INSERT INTO t VALUES (42), (42.0), (42.5), (43), (4.3e1)")
        #expect(await store.verify([order("42")]) == [.remaining(2)])
        #expect(await store.purge([order("42")]).map(\.text) == ["t delete, cutoff: none 2"])
        #expect(await store.verify([order("42"), order("43")]) == [.clean, .remaining(2)])
        guard case .found(let users) = await store.users(where: { _ in true }) else {
            Issue.record("no users")
            return
        }
        #expect(users == [order("43").user])
    }

    @Test("rows of another spelling that are newer than the request do not keep it open")
    func cutoff() async throws {
        let app = try AppDatabase("CREATE TABLE t(u INTEGER, made INTEGER)")
        let store = app.store(
            TableRule(
                table: "t",
                column: "u",
                idType: .integer,
                action: .delete,
                creation: CreationColumn(column: "made", unit: .unixMilliseconds)
            )
        )
        #expect(await store.purge([order("42")]).map(\.text) == ["t delete 0"])
        try app.execute("INSERT INTO t VALUES ('\u{ff14}2', \(present.unixMilliseconds + 1))")
        #expect(await store.verify([order("42")]) == [.clean])
        try app.execute("UPDATE t SET made = 1")
        #expect(await store.verify([order("42")]) != [.clean])
    }

    @Test("looking for other spellings reads nothing but the index")
    func index() throws {
        let app = try AppDatabase("CREATE TABLE t(u INTEGER, v, w BLOB); CREATE INDEX tu ON t(u)")
        try app.execute("CREATE INDEX tv ON t(v); CREATE INDEX tw ON t(w)")
        let columns: [(String, IDType)] = [
            ("u", .integer), ("v", .integer), ("v", .text), ("w", .blob),
        ]
        for (column, idType) in columns {
            let rule = TableRule(table: "t", column: column, idType: idType, action: .delete)
            let steps = try app.queue.read { db in
                db.add(function: DatabaseFunction(SQLiteDialect.readingFunction) { _ in false })
                let rules = WorkRules(tables: [rule])
                let schema = try SQLiteCatalog(db: db).read()
                var maker = SQLPlanMaker<SQLiteDialect>(rules, schema)
                let plan = try #require(maker.make()?.tables.first)
                #expect(plan.nonCanonicalSQL != nil)
                return try [plan.nonCanonicalSQL, plan.literalSQL].compactMap(\.self).flatMap {
                    sql in
                    try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + sql, arguments: ["x"])
                        .map { $0["detail"] as String }
                }
            }
            #expect(!steps.contains { $0.hasPrefix("SCAN t") }, "\(column) \(idType) \(steps)")
        }
    }
}

@Suite("Spellings of one id in MySQL", .serialized) struct MySQLSpellingTests {
    static let columns = Set(SpellingTry.mysql.map { [$0.column, $0.idType.rawValue] })
        .sorted { $0.joined() < $1.joined() }

    @Test("each is erased or keeps the request open", arguments: columns)
    func mysql(column: [String]) async throws {
        let app = try MySQLFixture("CREATE TABLE t(u \(column[0])); INSERT INTO t VALUES (NULL)")
        let session = try app.session()
        let spellings = SpellingTry.mysql.filter { [$0.column, $0.idType.rawValue] == column }
        let idType = try #require(IDType(rawValue: column[1]))
        let store = app.store(TableRule(table: "t", column: "u", idType: idType, action: .delete))
        #expect(await store.diagnose() == [])
        for spelling in spellings {
            try session.run("INSERT INTO t VALUES (\(spelling.row))")
            let user = order(spelling.request)
            let purged = await store.purge([user])
            let verified = await store.verify([user])
            let left = try session.query("SELECT count(*) FROM t WHERE u IS NOT NULL").text(0)
            let named = VerifyAnswer.failure(.blocked(Obstacle(.spelling, at: "t", name: "u")))
            #expect(
                left == "0" ? verified == [.clean] : verified == [named],
                "\(spelling) \(purged)"
            )
            try session.run("DELETE FROM t WHERE u IS NOT NULL")
        }
    }
}

@Suite("Spellings of one id in PostgreSQL", .serialized) struct PostgreSQLSpellingTests {
    @Test("each is erased or keeps the request open", arguments: SpellingTry.postgreSQL)
    func postgreSQL(spelling: SpellingTry) async throws {
        let app = try PostgreSQLFixture(
            """
            CREATE COLLATION anycase (provider = icu, locale = 'und-u-ks-level2',
                deterministic = false);
            CREATE TABLE t(u \(spelling.column)); INSERT INTO t VALUES (NULL);
            """
        )
        let rule = TableRule(table: "t", column: "u", idType: spelling.idType, action: .delete)
        let store = app.store(rule)
        #expect(await store.diagnose() == [])
        try app.sql("INSERT INTO t VALUES (\(spelling.row))")
        let user = order(spelling.request)
        let purged = await store.purge([user])
        let verified = await store.verify([user])
        let left = try app.sql("SELECT count(*) FROM t WHERE u IS NOT NULL")
        let named = VerifyAnswer.failure(.blocked(Obstacle(.spelling, at: "t", name: "u")))
        #expect(left == ["0"] ? verified == [.clean] : verified == [named], "\(purged) \(left)")
    }

    @Test("texts that are too short to be cut, and values that look like masks, are masked")
    func masks() async throws {
        let forged = "erased:0123456789abcdef0123456789abcdef"
        let app = try PostgreSQLFixture(
            """
            CREATE TABLE t(id serial, u text, zip varchar(9), a text, b public.citext);
            INSERT INTO t(u, zip, a, b) VALUES ('x', 'YO', '\(forged)', '\(forged)'),
                ('x', 'YO1', NULL, 'b'), ('x', '', 'a', NULL), ('x', '*', 'a', NULL);
            """
        )
        let masks: [ColumnMask] = [
            .init(column: "zip", strategy: .truncate(length: 2)),
            .init(column: "a", strategy: .hash), .init(column: "b", strategy: .random),
        ]
        let store = app.store(TableRule(table: "t", column: "u", action: .anonymize(masks)))
        #expect(await store.diagnose() == [])
        #expect(await store.verify([order("x")]) == [.remaining(4)])
        #expect(await store.purge([order("x")]).map(\.text) == ["t anonymize, cutoff: none 4"])
        #expect(try app.sql("SELECT zip FROM t ORDER BY id") == ["*", "YO*", "*", "*"])
        #expect(try app.sql("SELECT count(*) FROM t WHERE '\(forged)' IN (a, b)") == ["0"])
        #expect(await store.verify([order("x")]) == [.clean])
        let once = try app.sql("SELECT t FROM t ORDER BY id")
        #expect(await store.purge([order("x")]).map(\.text) == ["t anonymize, cutoff: none 0"])
        #expect(try app.sql("SELECT t FROM t ORDER BY id") == once)
    }

    @Test("a column that is too narrow for a cut text is a problem")
    func narrow() async throws {
        let app = try PostgreSQLFixture("CREATE TABLE t(u text, zip varchar(2))")
        let mask = ColumnMask(column: "zip", strategy: .truncate(length: 2))
        let store = app.store(TableRule(table: "t", column: "u", action: .anonymize([mask])))
        #expect(await store.diagnose().map { $0.contains("holds 2 characters") } == [true])
    }
}

/// Where an id stands: in the column of a rule, in one that `via` leads to, or inside JSON.
enum IDPlace: CaseIterable {
    case column, via, json, jsonVia

    var isJSON: Bool { self == .json || self == .jsonVia }

    func rules(_ idType: IDType) -> [TableRule] {
        let user = SchemaShape.rule("users", "id", type: idType)
        let path = InsideShape.json("$[*]")
        return switch self {
        case .column: [SchemaShape.rule("t", "u", type: idType)]
        case .via: [user, SchemaShape.rule("t", "u", via: "users.id")]
        case .json: [InsideShape.rule("d", path, type: idType)]
        case .jsonVia: [user, InsideShape.rule("d", path, via: "users.id")]
        }
    }
}

@Suite("Spellings of one id in every place of a database", .serialized)
struct PlacedSpellingTests {
    /// The first is the user's id.
    static let ids: [(type: IDType, spellings: [String])] = [
        (.uuid, Array(SpellingTry.uuids.prefix(6))),
        (.integer, ["42", "042", " 42", "42 ", "+42", "42.0", "\u{ff14}\u{ff12}"]),
        (
            .text,
            ["Ann\u{e9}", "Anne\u{301}", "ann\u{e9}", "ANN\u{c9}", "Ann\u{e9} ", " Ann\u{e9}"]
        ),
    ]

    @Test("none that equals the id is called erased", arguments: ids, ShapeKind.allCases)
    func places(id: (type: IDType, spellings: [String]), kind: ShapeKind) async throws {
        // SQLite has no type for UUIDs.
        let idType = kind == .sqlite && id.type == .uuid ? .text : id.type
        let type = idType == .integer ? "INTEGER" : idType == .uuid ? "UUID" : "TEXT"
        let own = id.spellings[0]
        // Rules find no UUID in JSON but by a column that has it.
        for place in IDPlace.allCases where place != .json || idType != .uuid {
            let app = try kind.open(
                "CREATE TABLE users(id \(type) PRIMARY KEY);"
                    + "CREATE TABLE t(n INTEGER PRIMARY KEY, u \(type), d JSON);"
                    + "CREATE VIEW equal AS SELECT n FROM t WHERE u = '\(own)';"
            )
            let store = app.store(place.rules(idType))
            #expect(await store.diagnose() == [])
            for spelling in id.spellings {
                let isOwn = spelling.utf8.elementsEqual(own.utf8)
                let value = place.isJSON ? "NULL, '[\"\(spelling)\"]'" : "'\(spelling)', NULL"
                do {
                    try app.run(
                        "DELETE FROM t; DELETE FROM users; INSERT INTO users VALUES ('\(own)');"
                            + "INSERT INTO t VALUES (1, \(value))"
                    )
                } catch {
                    // The column cannot hold it.
                    if isOwn { throw error }
                    continue
                }
                let isSame = isOwn || idType == .uuid && spelling.lowercased() == own
                let isEqual = try place.isJSON ? isSame : !app.dump("equal").isEmpty
                let before = try app.dump("t")
                _ = await store.purge([order(own)])
                let answer = await store.verify([order(own)])
                let isChanged = try app.dump("t") != before
                let note = Comment(rawValue: "\(place) \(spelling): \(answer)")
                #expect(isChanged || !isEqual || answer != [.clean], note)
                #expect(isEqual || !isChanged, note)
                #expect(answer == [.clean] || !isOwn, note)
            }
        }
    }
}
