@testable import Stores

/// Tables of a real application, rebuilt from what its documentation says of them.
///
/// Each id and text of user `n` holds a number whose last five digits are `n`, so that each row
/// says whose it is.
struct RealSchema: Sendable, CustomStringConvertible {
    /// The rows of one table.
    struct Fill: Sendable {
        let table: String
        /// Of one user: each row as the values of an INSERT.
        let rows: @Sendable (Int) -> [String]

        init(_ table: String, _ rows: @escaping @Sendable (Int) -> [String]) {
            (self.table, self.rows) = (table, rows)
        }
    }

    /// A column whose reference to a user is cleared while the row, which is another's, stays.
    struct Cleared: Sendable {
        let table: String
        let column: String
        /// The column that says whose the row is; `nil` where it is no user's.
        let owner: String?

        init(_ table: String, _ column: String, owner: String? = nil) {
            (self.table, self.column, self.owner) = (table, column, owner)
        }
    }

    let name: String
    let kinds: [ShapeKind]
    /// Creates the tables, and rows that are no user's.
    let sql: String
    let userTable: String
    let fills: [Fill]
    let user: @Sendable (Int) -> String
    /// Lines of the suggestion that a person changes.
    var edits: [(line: String, by: String)] = []
    var cleared: [Cleared] = []

    var description: String { name }

    /// What others wrote below the user's rows goes with these.
    static let belowGoes = [
        (
            line: """
            action = "keep"
            keep_reason = "the row is of others and refers to the user's"
            """,
            by: "action = \"delete\""
        )
    ]

    static let userCount = 1000
    static let erased = Set(stride(from: 20, through: userCount, by: 20))

    /// A number that is the user's, of a kind of things.
    static func id(_ kind: Int, _ user: Int) -> Int { kind * 100_000 + user }

    static func uuid(_ kind: Int, _ user: Int) -> String {
        let digits = String(id(kind, user))
        let zeros = String(repeating: "0", count: 12 - digits.count)
        return "0a0b0c0d-0000-4000-8000-" + zeros + digits
    }

    /// The next user that exists.
    static func next(_ user: Int) -> Int { user % userCount + 1 }

    /// Whether a text holds a number of one of the erased users.
    static func isErased(_ text: String) -> Bool {
        text.split { !$0.isASCII || !$0.isNumber }.contains { run in
            guard let number = Int(run), number >= 1_000_000, number < 10_000_000 else {
                return false
            }
            return erased.contains(number % 100_000)
        }
    }

    /// The tables, with the rows of all users.
    func open(_ kind: ShapeKind) throws -> any ShapeStore {
        let app = try kind.open(sql)
        for fill in fills {
            var values: [String] = []
            for user in 1...Self.userCount {
                values += fill.rows(user).map { "(\($0))" }
                if values.count >= 400 || user == Self.userCount, !values.isEmpty {
                    let table = kind == .mysql ? "`\(fill.table)`" : fill.table
                    try app.run("INSERT INTO \(table) VALUES \(values.joined(separator: ", "))")
                    values = []
                }
            }
        }
        // An index on each column by which rows are found, as the applications have them.
        let indexes = indexed.enumerated().map { number, found in
            "CREATE INDEX real_\(number) ON \(found.table) (\(found.column))"
        }
        try app.run(indexes.joined(separator: "; "))
        return app
    }

    private static let ends = ["id", "uuid", "author", "owner", "sender"]

    /// Columns of ids, by their names.
    private var indexed: [(table: String, column: String)] {
        columns.flatMap { table, columns in
            columns.filter { column in Self.ends.contains { column.hasSuffix("_" + $0) } }
                .map { (table, $0) }
        }
    }

    /// The columns of each table in their order; words of the language may follow them.
    var columns: [(table: String, names: [String])] {
        sql.matches(of: #/CREATE TABLE (\w+)\(([^;]*)\);/#).map { table in
            let found = table.output.2.matches(of: #/(?:^|, *\s*)(\w+) \w+/#)
            return (String(table.output.1), found.map { String($0.output.1) })
        }
    }

    /// All tables that `sql` creates.
    var tables: [String] {
        sql.matches(of: #/CREATE TABLE (\w+)/#).map { String($0.1) }
    }
}
