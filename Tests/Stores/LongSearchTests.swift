import CSQLiteGuard
import GRDB
import GRDBSQLite
import Testing

@Suite("A search in a value that is too long to be read") struct LongSearchTests {
    /// What is looked for in a value of more than one piece.
    struct Search: Sendable, CustomTestStringConvertible {
        /// In JSON behind a long text, or a text with `…` for a long one.
        let value: String
        let text: String
        let isFound: Bool
        var isJSON = true

        var testDescription: String { "\(text) in \(value)" }

        var sql: String {
            let value = isJSON ? #"{"by":"zz","t":"a\n…","n":\#(value)}"# : value
            return "'" + value.replacing("…", with: "' || hex(zeroblob(30000)) || '") + "'"
        }
    }

    static let texts = [
        Search(value: "1", text: "zz", isFound: true),
        Search(value: "1", text: "z", isFound: false),
        Search(value: "1", text: "by", isFound: false),
        Search(value: "1", text: "0", isFound: false),
        Search(value: #""\u0041nn\/\"\\\t""#, text: "ann/\"\\\t", isFound: true),
        Search(value: #""\u00e4\ud83d\ude00""#, text: "ä😀", isFound: true),
        Search(value: #""\u00e4\ud83d\ude00""#, text: "ä", isFound: false),
        Search(value: #"[[],{},true,false,{"a":[null]},"n"]"#, text: "n", isFound: true),
        Search(value: #"[[],{},true,false,{"a":[null]}]"#, text: "null", isFound: false),
    ]

    static let numbers = [
        ("42", "42", true), ("42.00", "42", true), ("0.042e+3", "42", true),
        ("4200E-2", "42", true), ("-42", "-42", true), ("-42", "42", false), ("142", "42", false),
        ("-0", "0", true), ("1e-400", "0", true), ("42.5", "42", false),
        ("1234567890123456789", "1234567890123456788", false),
        ("12345678901234567890", "12345678901234567890", true),
        ("1…", "42", false), ("42.…1", "42", true), ("42.1…", "42", false),
    ].map { Search(value: $0.0, text: $0.1, isFound: $0.2) }

    /// SQL finds a text anywhere in what is no JSON.
    static let others = [
        Search(value: #""mann"]"#, text: "ann", isFound: true),
        Search(value: #""m\u0061nn"]"#, text: "ann", isFound: true),
        Search(value: #""mann"]"#, text: "bob", isFound: false),
        Search(value: "…[user:Ann b]…", text: "user:annb", isFound: true, isJSON: false),
        Search(value: "…[user:ann]…", text: "user:bob", isFound: false, isJSON: false),
    ]

    @Test(
        "it finds texts and numbers of JSON whatever they are written like, and no part of one",
        arguments: ["UTF-8", "UTF-16le", "UTF-16be"],
        texts + numbers + others
    )
    func found(encoding: String, search: Search) throws {
        let found = try Self.queue(encoding, search.sql).writeWithoutTransaction { db -> Int? in
            try Self.search(db, search)
        }
        #expect(found == (search.isFound ? 1 : 0))
    }

    @Test("it finds what stands on the border of two pieces", arguments: ["UTF-8", "UTF-16le"])
    func borders(encoding: String) throws {
        for size in 16_320..<16_400 {
            let text = "' || substr(hex(zeroblob(9000)), 1, \(size)) || '"
            let value = #"'{"t":""# + text + #"","by":"\ud83d\ude00\u00e4x"}'"#
            let search = Search(value: "", text: "😀äx", isFound: true)
            let found = try Self.queue(encoding, value).writeWithoutTransaction { db -> Int? in
                try Self.search(db, search)
            }
            #expect(found == 1, "\(size)")
        }
    }

    @Test(
        "a text that is no JSON is read without its escapes",
        arguments: [
            (#"a\"\\\/\b\f\n\r\tz"#, "a\"\\/\u{8}\u{c}\n\r\tz"),
            (#"\u0061\uD83D\ude00"#, "a😀"),
            (#"\ud83d\u0061"#, #"\ud83da"#), (#"\x\u12"#, #"\x\u12"#), ("", ""), ("\\", "\\"),
        ]
    )
    func unescaped(text: String, plain: String) throws {
        let found = try Self.queue("UTF-8", "NULL").writeWithoutTransaction { db -> String? in
            try String.fetchOne(db, sql: "SELECT unescaped(?)", arguments: [text])
        }
        #expect(found == plain)
    }

    @Test("it ends at the deadline")
    func deadline() throws {
        let search = Search(value: "1", text: "a", isFound: false)
        let queue = try Self.queue("UTF-8", search.sql)
        var code: ResultCode?
        do {
            try queue.writeWithoutTransaction { db -> Void in
                unsafe csqliteguard_deadline_begin(db.sqliteConnection, -1000)
                defer { unsafe csqliteguard_deadline_end(db.sqliteConnection) }
                _ = try Self.search(db, search)
            }
        } catch let error as DatabaseError {
            code = error.resultCode
        }
        #expect(code == .SQLITE_INTERRUPT)
    }

    static func search(_ db: Database, _ search: Search) throws -> Int? {
        let sql = "SELECT holds('p', 't', id, ?, ?) FROM p"
        return try Int.fetchOne(db, sql: sql, arguments: [search.text, search.isJSON ? 1 : 0])
    }

    /// A database with a value in SQL, and the functions.
    static func queue(_ encoding: String, _ value: String) throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    PRAGMA encoding = '\(encoding)'; CREATE TABLE p(id INTEGER PRIMARY KEY, t);
                    INSERT INTO p VALUES (1, \(value));
                    """
            )
            let code = unsafe csqliteguard_add_functions(
                db.sqliteConnection,
                "bytes",
                "holds",
                "unescaped"
            )
            #expect(code == SQLITE_OK)
        }
        return queue
    }
}
