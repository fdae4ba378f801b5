import Encoding
import Engine
import FoundationEssentials
import GRDB
import Lifecycle

@testable import Stores

/// A column of ids in a table of one of the SQL stores.
struct SpelledColumn: Sendable, CustomStringConvertible {
    let kind: ShapeKind
    /// The type of the column, with its collation.
    let type: String
    let idType: IDType
    /// How many users are called erased at least, of those with the ids of the table.
    let erasedMin: Int

    init(_ kind: ShapeKind, _ type: String, _ idType: IDType = .text, erasedMin: Int) {
        self.kind = kind
        self.type = type
        self.idType = idType
        self.erasedMin = erasedMin
    }

    var description: String { "\(kind.rawValue) \(type) as \(idType.rawValue)" }

    /// One for each database.
    static let sample = [
        SpelledColumn(.sqlite, "TEXT COLLATE NOCASE", erasedMin: 100),
        SpelledColumn(.postgresql, "public.citext", erasedMin: 100),
        SpelledColumn(.mysql, "varchar(300) COLLATE utf8mb4_uca1400_ai_ci", erasedMin: 50),
    ]

    static let all =
        [
            SpelledColumn(.sqlite, "TEXT", erasedMin: 100),
            SpelledColumn(.sqlite, "TEXT COLLATE NOCASE", erasedMin: 100),
            SpelledColumn(.sqlite, "TEXT COLLATE RTRIM", erasedMin: 100),
            SpelledColumn(.sqlite, "", erasedMin: 100),
            SpelledColumn(.sqlite, "", .mixed, erasedMin: 100),
            SpelledColumn(.sqlite, "INTEGER", .integer, erasedMin: 3),
            SpelledColumn(.sqlite, "NUMERIC", .integer, erasedMin: 3),
            SpelledColumn(.sqlite, "BLOB", .blob, erasedMin: 10),
        ] + postgreSQL + mysql

    private static let postgreSQL = [
        SpelledColumn(.postgresql, "text", erasedMin: 100),
        SpelledColumn(.postgresql, "varchar(300)", erasedMin: 100),
        SpelledColumn(.postgresql, "char(300)", erasedMin: 100),
        SpelledColumn(.postgresql, "public.citext", erasedMin: 100),
        SpelledColumn(.postgresql, "text COLLATE anycase", erasedMin: 50),
        SpelledColumn(.postgresql, "text COLLATE anyaccent", erasedMin: 50),
        SpelledColumn(.postgresql, "text COLLATE digits", erasedMin: 50),
        SpelledColumn(.postgresql, "bigint", .integer, erasedMin: 10),
        SpelledColumn(.postgresql, "numeric", .integer, erasedMin: 10),
        SpelledColumn(.postgresql, "uuid", .uuid, erasedMin: 10),
        SpelledColumn(.postgresql, "bytea", .blob, erasedMin: 10),
    ]

    private static let mysql =
        [
            "utf8mb4_bin", "utf8mb4_nopad_bin", "utf8mb4_general_ci", "utf8mb4_unicode_ci",
            "utf8mb4_uca1400_ai_ci", "utf8mb4_uca1400_as_cs", "utf8mb4_uca1400_nopad_ai_ci",
        ].map { SpelledColumn(.mysql, "varchar(300) COLLATE \($0)", erasedMin: 50) } + [
            SpelledColumn(.mysql, "char(255) COLLATE utf8mb4_general_ci", erasedMin: 50),
            SpelledColumn(.mysql, "char(255) COLLATE utf8mb4_nopad_bin", erasedMin: 50),
            SpelledColumn(.mysql, "varchar(300) CHARACTER SET latin1", erasedMin: 50),
            SpelledColumn(.mysql, "longtext COLLATE utf8mb4_uca1400_ai_ci", erasedMin: 50),
            SpelledColumn(.mysql, "varbinary(300)", erasedMin: 50),
            SpelledColumn(.mysql, "bigint", .integer, erasedMin: 10),
            SpelledColumn(.mysql, "decimal(40)", .integer, erasedMin: 10),
            SpelledColumn(.mysql, "uuid", .uuid, erasedMin: 10),
            SpelledColumn(.mysql, "varbinary(300)", .blob, erasedMin: 10),
            SpelledColumn(.mysql, "binary(16)", .blob, erasedMin: 10),
        ]

    func open() throws -> any SpelledStore {
        let rule = TableRule(table: "t", column: "u", idType: idType, action: .delete)
        let table = "CREATE TABLE t(n integer PRIMARY KEY, u \(type)); CREATE INDEX tu ON t"
        switch kind {
        case .sqlite: return SQLiteSpelled(try AppDatabase(table + "(u)"), rule)
        case .postgresql: return try PostgreSQLSpelled(table + "(u)", rule)
        case .mysql: return try MySQLSpelled(table + "(u\(prefix))", rule, type)
        }
    }

    private var prefix: String { type.hasPrefix("longtext") ? "(20)" : "" }
}

extension String {
    /// The digits of its bytes, which nothing in it can end.
    fileprivate var digits: String { Hexadecimal.text(Array(utf8)[...]) }

    /// The digits of the bytes that an application stores for it in a column of bytes: what it
    /// writes in hexadecimal, with or without the punctuation of a UUID, or its characters.
    fileprivate var storedDigits: String {
        let plain = lowercased().filter { !"{}- ".contains($0) }
        let isPlain = plain.utf8.count == utf8.count || plain.utf8.count == 32
        let isHexadecimal = plain.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
        let isEven = plain.utf8.count.isMultiple(of: 2)
        return isPlain && isHexadecimal && isEven ? plain : digits
    }
}

extension [Int: [UInt8]] {
    /// Things whose digits are those of an id, for columns of bytes.
    fileprivate func stored(as text: String) -> Set<Int> {
        let digits = [text.digits, text.storedDigits].map { Array($0.utf8) }
        return Set(filter { digits.contains($0.value) }.keys)
    }
}

struct SQLiteSpelled: SpelledStore {
    let app: AppDatabase
    private let isBytes: Bool
    let store: any PurgeStore

    init(_ app: AppDatabase, _ rule: TableRule) {
        self.app = app
        isBytes = rule.idType == .blob
        store = app.store(rule, clock: .patient(wall: FilesFixture.now()))
    }

    func fill(_ ids: [Int: String]) throws {
        try app.execute("DELETE FROM t")
        for (number, text) in ids { put(text, as: number) }
    }

    /// What no row can hold is left out.
    private func put(_ text: String, as number: Int) {
        let value = isBytes ? "X'\(text.storedDigits)'" : "CAST(X'\(text.digits)' AS TEXT)"
        do {
            try app.execute("INSERT INTO t VALUES (\(number), \(value))")
        } catch {
            _ = error
        }
    }

    func contents() throws -> [Int: [UInt8]] {
        try app.queue.read { db in
            let value = isBytes ? "lower(hex(u))" : "u"
            let sql = "SELECT n, CAST(\(value) AS BLOB) FROM t"
            let rows = try Row.fetchAll(db, sql: sql)
            return Dictionary(uniqueKeysWithValues: rows.map { ($0[0], Array($0[1] as Data)) })
        }
    }

    func found(_ text: String, among contents: [Int: [UInt8]]) throws -> Set<Int> {
        if isBytes { return contents.stored(as: text) }
        return try app.queue.read { db in
            let sql = "SELECT n FROM t WHERE u = CAST(X'\(text.digits)' AS TEXT)"
            return Set(try Int.fetchAll(db, sql: sql))
        }
    }
}

struct PostgreSQLSpelled: SpelledStore {
    private let session: PostgreSQLSession
    private let isBytes: Bool
    let store: any PurgeStore

    init(_ sql: String, _ rule: TableRule) throws {
        let app = try PostgreSQLFixture(
            """
            CREATE COLLATION anycase (provider = icu, locale = 'und-u-ks-level2',
                deterministic = false);
            CREATE COLLATION anyaccent (provider = icu, locale = 'und-u-ks-level1',
                deterministic = false);
            CREATE COLLATION digits (provider = icu, locale = 'und-u-ks-level1-ka-shifted-kn',
                deterministic = false);
            \(sql)
            """
        )
        isBytes = rule.idType == .blob
        session = try app.session()
        try session.run("SET search_path TO \(app.schema), public")
        store = app.store(rule)
    }

    private func literal(_ text: String) -> String? {
        text.utf8.contains(0) ? nil : "'" + text.replacing("'", with: "''") + "'"
    }

    func fill(_ ids: [Int: String]) throws {
        try session.run("DELETE FROM t")
        for (number, text) in ids { put(text, as: number) }
    }

    /// What no row can hold is left out.
    private func put(_ text: String, as number: Int) {
        let bytes = "'\\x\(text.storedDigits)'"
        guard let literal = isBytes ? bytes : literal(text) else { return }
        do {
            try session.run("INSERT INTO t VALUES (\(number), \(literal))")
        } catch {
            _ = error
        }
    }

    func contents() throws -> [Int: [UInt8]] {
        let value = isBytes ? "encode(u, 'hex')" : "u::text"
        let rows = try session.query("SELECT n, \(value) FROM t").rows
        return Dictionary(
            uniqueKeysWithValues: rows.map { (Int($0[0] ?? "") ?? -1, Array(($0[1] ?? "").utf8)) }
        )
    }

    func found(_ text: String, among contents: [Int: [UInt8]]) throws -> Set<Int> {
        if isBytes { return contents.stored(as: text) }
        guard let literal = literal(text) else { return [] }
        do {
            let rows = try session.query("SELECT n FROM t WHERE u = \(literal)").rows
            return Set(rows.compactMap { Int($0[0] ?? "") })
        } catch {
            return []
        }
    }
}

struct MySQLSpelled: SpelledStore {
    private let session: MySQLSession
    private let idType: IDType
    let store: any PurgeStore

    init(_ sql: String, _ rule: TableRule, _ type: String) throws {
        let app = try MySQLFixture(sql)
        session = try app.session()
        try session.run("SET sql_mode = 'TRADITIONAL'")
        idType = rule.idType
        store = app.store(rule)
    }

    func fill(_ ids: [Int: String]) throws {
        try session.run("DELETE FROM t")
        for (number, text) in ids { put(text, as: number) }
    }

    /// What no row can hold is left out.
    private func put(_ text: String, as number: Int) {
        let value =
            idType == .blob ? "X'\(text.storedDigits)'" : "_utf8mb4 X'\(text.digits)'"
        do {
            try session.run("INSERT INTO t VALUES (\(number), \(value))")
        } catch {
            _ = error
        }
    }

    func contents() throws -> [Int: [UInt8]] {
        let text = idType == .blob ? "LOWER(HEX(u))" : "CONVERT(u USING utf8mb4)"
        let sql = "SELECT n, CAST(\(text) AS BINARY) FROM t"
        let rows = try session.query(sql).typed
        return Dictionary(
            uniqueKeysWithValues: rows.map { row in
                guard case .integer(let number) = row[0], case .blob(let bytes) = row[1] else {
                    return (-1, [])
                }
                return (Int(number), bytes)
            }
        )
    }

    /// Numbers are compared as decimals, and only what is one as a whole.
    func found(_ text: String, among contents: [Int: [UInt8]]) throws -> Set<Int> {
        if idType == .blob { return contents.stored(as: text) }
        let id = "_utf8mb4 X'\(text.digits)'"
        let value = idType == .integer ? "CAST(\(id) AS DECIMAL(65, 20))" : id
        do {
            let rows = try session.query("SELECT n FROM t WHERE u = \(value)").typed
            let isWhole = try session.query("SHOW WARNINGS").rows.isEmpty
            guard isWhole else { return [] }
            return Set(
                rows.compactMap { row in
                    if case .integer(let number) = row[0] { Int(number) } else { nil }
                }
            )
        } catch {
            return []
        }
    }
}
