import Lifecycle
import Testing

@testable import Stores

/// Ids inside values, with the rules that find them and what a purge of the user must leave.
///
/// Rows are compared without blanks, quotation marks and backslashes, which databases write in
/// different ways; those of ``same`` byte for byte.
struct InsideShape: Sendable, CustomTestStringConvertible {
    let name: String
    let sql: String
    let rules: [TableRule]
    var user = "1"
    /// All rows of the table `t` that are changed, in the order of their ids.
    let changed: [String]
    /// How many rows of `t` are as before; the rest is gone.
    let same: Int
    var kinds = ShapeKind.allCases

    var testDescription: String { name }

    static func rule(
        _ column: String,
        _ inside: InsideValue?,
        _ strategy: MaskStrategy = .remove,
        at path: String? = nil,
        of part: String? = nil,
        via: String? = nil,
        type: IDType = .text
    ) -> TableRule {
        let mask = ColumnMask(
            column: part ?? column,
            strategy: strategy,
            path: path.flatMap { JSONPath($0) }
        )
        var rule = TableRule(
            table: "t",
            column: column,
            idType: type,
            action: .anonymize([mask]),
            reason: "team"
        )
        rule.inside = inside
        rule.via = via.flatMap { ParentColumn($0) }
        return rule
    }

    static func json(_ path: String) -> InsideValue? { JSONPath(path).map { .json($0) } }
}

extension InsideShape {
    static let all =
        [objects, elements, escaped, nested, integers, replaced, cleared, list, blanks, mentions]
        + [wild, known, ownRows, arrays, numbers, uuids]

    static let objects = InsideShape(
        name: "JSON objects in an array, by the id in them",
        sql: """
            CREATE TABLE t(id INTEGER PRIMARY KEY, d JSON);
            INSERT INTO t VALUES
            (1, '{"list":[{"id":1,"name":"A"},{"id":11,"name":"B"},{"id":"1","name":"A"}]}'),
            (2, '{"list":[{"id":11},{"id":21},{"id":"12"}],"x":1.50}'), (3, '{"list":[]}'),
            (4, '{"list":{"id":1}}'), (5, '{"id":1}'), (6, NULL), (7, '{"list":[{"id":1.0}]}'),
            (8, '{"list":[1,[1],null,"1"]}'), (10, '[]'), (11, '1'), (12, '{"list":"1"}'),
            (9, '{"list":[{"id":true},{"id":null},{"id":"01"},{"id":"1 "},{"id":"１"}]}'),
            (13, '{"a b":[{"id":1}],"list":[{"id":{"id":1}}]}');
            """,
        rules: [rule("d", json("$.list[*].id"), at: "$.list[*]")],
        changed: ["1|{list:[{id:11,name:B}]}", "7|{list:[]}"],
        same: 11
    )

    static let elements = InsideShape(
        name: "elements of a JSON array, texts with quotation marks and cases",
        sql: """
            CREATE TABLE t(id INTEGER PRIMARY KEY, d JSON);
            INSERT INTO t VALUES (1, '["O''N%_x","o''n%_x","O''N%_x2"]'), (2, '["o''n%_x"]'),
                (3, '["O''Nab%"]'), (4, '{"O''N%_x":"O''N%_x"}');
            """,
        rules: [rule("d", json("$[*]"))],
        user: "O'N%_x",
        changed: ["1|[o'n%_x,O'N%_x2]"],
        same: 3
    )

    static let escaped = InsideShape(
        name: "a JSON text with escapes",
        sql: """
            CREATE TABLE t(id INTEGER PRIMARY KEY, d JSON);
            INSERT INTO t VALUES (1, '["\\u0061nn","\\u0061nna"]'), (2, '["u0061nn"]');
            """,
        rules: [rule("d", json("$[*]"))],
        user: "ann",
        changed: ["1|[anna]"],
        same: 1,
        // MySQL reads the backslash of the statement.
        kinds: [.postgresql]
    )

    static let nested = InsideShape(
        name: "arrays in arrays",
        sql: """
            CREATE TABLE t(id INTEGER PRIMARY KEY, d JSON);
            INSERT INTO t VALUES (1, '{"a":[{"b":[1,2,1]},{"b":[2]},{"b":[1]},{"b":1},{}]}'),
                (2, '{"a":[{"b":[2,11]},{"c":[1]}]}');
            """,
        rules: [rule("d", json("$.a[*].b[*]"))],
        changed: ["1|{a:[{b:[2]},{b:[2]},{b:[]},{b:1},{}]}"],
        same: 1
    )

    static let integers = InsideShape(
        name: "JSON by an integer",
        sql: """
            CREATE TABLE t(id INTEGER PRIMARY KEY, d JSON);
            INSERT INTO t VALUES (1, '[-42,42,"-42"]'), (2, '[42,"42"]'), (3, '["-042"]');
            """,
        rules: [rule("d", json("$[*]"), type: .integer)],
        user: "-42",
        changed: ["1|[42]"],
        same: 2
    )

    static let replaced = InsideShape(
        name: "an account that stands in, in JSON",
        sql: """
            CREATE TABLE t(id INTEGER PRIMARY KEY, d JSON);
            INSERT INTO t VALUES (1, '{"by":1,"log":[{"by":1},{"by":2}]}'),
                (2, '{"by":2,"log":[{"by":"1"}]}'), (3, '{"by":2}');
            """,
        rules: [
            rule("d", json("$.by"), .integer(0)), rule("d", json("$.log[*].by"), .text("nobody")),
        ],
        changed: ["1|{by:0,log:[{by:nobody},{by:2}]}", "2|{by:2,log:[{by:nobody}]}"],
        same: 1
    )

    static let cleared = InsideShape(
        name: "null in JSON, at a name that needs quotation marks",
        sql: """
            CREATE TABLE t(id INTEGER PRIMARY KEY, d JSON);
            INSERT INTO t VALUES (1, '{"last editor":"1"}'), (2, '{"last editor":null}');
            """,
        rules: [rule("d", json("$.\"last editor\""), .null)],
        changed: ["1|{lasteditor:null}"],
        same: 1
    )

    static let list = InsideShape(
        name: "elements of a list, exactly",
        sql: """
            CREATE TABLE t(id INTEGER PRIMARY KEY, d VARCHAR(90));
            INSERT INTO t VALUES (1, 'a'), (2, 'a,a'), (3, 'b,a,c,a'), (4, 'A,aa,b'), (5, 'a;b'),
                (6, ''), (7, NULL), (8, 'b,,a,'), (9, 'ba,ab,Á'), (10, 'a_%');
            """,
        rules: [rule("d", .list(separator: ","))],
        user: "a",
        changed: ["1|", "2|", "3|b,c", "8|b,,"],
        same: 6
    )

    static let blanks = InsideShape(
        name: "elements between commas and blanks, replaced",
        sql: """
            CREATE TABLE t(id INTEGER PRIMARY KEY, d VARCHAR(90));
            INSERT INTO t VALUES (1, '1, 11, 1, 2'), (2, '11, 21'), (3, '11');
            """,
        rules: [rule("d", .list(separator: ", "), .text("0"), type: .integer)],
        changed: ["1|0,11,0,2"],
        same: 2
    )

    private static let users = """
        CREATE TABLE users(id TEXT PRIMARY KEY, name TEXT UNIQUE);
        CREATE TABLE t(id INTEGER PRIMARY KEY, d VARCHAR(90));
        """

    static let mentions = InsideShape(
        name: "a name in texts, as a word",
        sql: users + """
            INSERT INTO users VALUES ('1', 'ann'), ('2', 'anna'), ('3', 'ann.b'), ('4', NULL);
            INSERT INTO t VALUES (1, '@ann hi @ann, (@ann) @anna @ann.'), (2, '@anna @ann.b'),
                (3, 'joe@ann.example @ANN ann'), (4, NULL), (5, '@ann-x @ann_ @ann1 @annä'),
                (6, '@'), (7, '…@ann…');
            """,
        rules: [
            TableRule(table: "users", column: "id", action: .delete),
            rule("d", .text(before: "@", after: ""), .text("@gone"), via: "users.name"),
        ],
        changed: ["1|@gonehi@gone,(@gone)@anna@gone.", "7|…@gone…"],
        same: 5
    )

    static let wild = InsideShape(
        name: "a name of wildcards and signs of regular expressions",
        sql: users + """
            INSERT INTO users VALUES ('1', 'a.%_*+(E)$[x]^{2}|'), ('2', 'ab');
            INSERT INTO t VALUES (1, 'by <a.%_*+(E)$[x]^{2}|>!'), (2, 'by <ab>'), (3, 'by <>');
            """,
        rules: [
            TableRule(table: "users", column: "id", action: .delete),
            rule("d", .text(before: "<", after: ">"), .text("$1 & nobody"), via: "users.name"),
        ],
        changed: ["1|by$1&nobody!"],
        same: 2
    )

    static let known = InsideShape(
        name: "another value of the user in JSON",
        sql: """
            CREATE TABLE users(id TEXT PRIMARY KEY, mail TEXT UNIQUE);
            CREATE TABLE t(id INTEGER PRIMARY KEY, d JSON);
            INSERT INTO users VALUES ('1', 'a@x'), ('2', 'b@x'), ('3', NULL);
            INSERT INTO t VALUES (1, '{"to":["a@x","b@x"]}'), (2, '{"to":["b@x",null,""]}'),
                (3, '{"to":["A@X"]}');
            """,
        rules: [
            TableRule(table: "users", column: "id", action: .delete),
            rule("d", json("$.to[*]"), via: "users.mail"),
        ],
        changed: ["1|{to:[b@x]}"],
        same: 2
    )

    static let ownRows = InsideShape(
        name: "parts of JSON in the user's own rows",
        sql: """
            CREATE TABLE t(id INTEGER PRIMARY KEY, u TEXT, d JSON);
            INSERT INTO t VALUES (1, '1', '{"ip":"9","log":[{"ip":"9"},{},{"ip":"8"}]}'),
                (2, '2', '{"ip":"9","log":[{"ip":"9"}]}'), (3, '1', NULL), (4, '1', '{}');
            """,
        rules: [
            rule("u", nil, at: "$.ip", of: "d"),
            rule("u", nil, .text("?"), at: "$.log[*].ip", of: "d"),
        ],
        changed: ["1|1|{log:[{ip:?},{},{ip:?}]}"],
        same: 3
    )

    static let arrays = InsideShape(
        name: "elements of an array of texts",
        sql: """
            CREATE TABLE t(id INTEGER PRIMARY KEY, d TEXT[]);
            INSERT INTO t VALUES (1, '{a,b,a}'), (2, '{A,aa}'), (3, NULL), (4, '{}'),
                (5, '{"a,b"}');
            """,
        rules: [rule("d", .array)],
        user: "a",
        changed: ["1|{b}"],
        same: 4,
        kinds: [.postgresql]
    )

    static let numbers = InsideShape(
        name: "elements of an array of integers, replaced",
        sql: """
            CREATE TABLE t(id INTEGER PRIMARY KEY, d INTEGER[]);
            INSERT INTO t VALUES (1, '{1,11,1}'), (2, '{11}'), (3, '{NULL,2}');
            """,
        rules: [rule("d", .array, .integer(0), type: .integer)],
        changed: ["1|{0,11,0}"],
        same: 2,
        kinds: [.postgresql]
    )

    static let uuids = InsideShape(
        name: "elements of an array of UUIDs",
        sql: """
            CREATE TABLE t(id INTEGER PRIMARY KEY, d UUID[]);
            INSERT INTO t VALUES (1, '{00000000-0000-0000-0000-00000000000a}'), (2, '{}');
            """,
        rules: [rule("d", .array, type: .uuid)],
        user: "00000000-0000-0000-0000-00000000000A",
        changed: ["1|{}"],
        same: 1,
        kinds: [.postgresql]
    )
}
