import Engine
import Lifecycle
import Testing

@testable import Stores

@Suite("Values that a collation takes for equal", .serialized) struct AccentTests {
    private static let rules = [
        SchemaShape.rule("users", "id"), SchemaShape.rule("posts", "login", via: "users.login"),
    ]
    private static let tagged = [
        SchemaShape.rule(
            "posts",
            "owner",
            where: [ColumnCondition(column: "login", test: .equals(.text("jose")))]
        )
    ]

    private static func sql(_ type: String) -> String {
        """
        CREATE TABLE users(id varchar(9) PRIMARY KEY, login \(type));
        CREATE TABLE posts(n integer PRIMARY KEY, login \(type), owner varchar(9));
        CREATE INDEX pl ON posts(login);
        INSERT INTO users VALUES ('a', 'jose'), ('b', 'jos\u{e9}');
        INSERT INTO posts VALUES (1, 'jose', 'a'), (2, 'jos\u{e9}', 'a'), (3, 'JOSE', 'a');
        """
    }

    private static func open(_ kind: ShapeKind) throws -> any ShapeStore {
        switch kind {
        case .sqlite: try AppDatabase(sql("TEXT COLLATE NOCASE"))
        case .mysql: try MySQLFixture(sql("varchar(99) COLLATE utf8mb4_general_ci"))
        case .postgresql:
            try PostgreSQLFixture(
                "CREATE COLLATION plain (provider = icu, locale = 'und-u-ks-level1',"
                    + " deterministic = false); " + sql("text COLLATE plain")
            )
        }
    }

    @Test("rows of a user whose name has other accents are left", arguments: ShapeKind.allCases)
    func via(kind: ShapeKind) async throws {
        let app = try Self.open(kind)
        let store = app.store(Self.rules)
        _ = await store.purge([order("a")])
        #expect(await store.verify([order("a")]) == [.clean])
        #expect(try app.dump("posts") == ["2|jos\u{e9}|a"])
        #expect(try app.dump("users") == ["b|jos\u{e9}"])
    }

    @Test("a condition takes no value with other accents", arguments: ShapeKind.allCases)
    func condition(kind: ShapeKind) async throws {
        let app = try Self.open(kind)
        _ = await app.store(Self.tagged).purge([order("a")])
        #expect(try app.dump("posts") == ["2|jos\u{e9}|a"])
    }
}
