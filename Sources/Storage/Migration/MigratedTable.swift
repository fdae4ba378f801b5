import Ledger
import Lifecycle

/// A table of the state, as its schema in a file says.
struct MigratedTable {
    struct Column {
        let name: String
        /// `INTEGER`, `TEXT` or `BLOB`: the tables are STRICT.
        let type: String
    }

    let name: String
    let columns: [Column]
    /// The column that numbers the rows; `nil` without one.
    let number: String?

    /// In an order in which each finds what it refers to.
    static func all(_ file: any StateConnection) throws -> [MigratedTable] {
        let names = try file.all(
            """
            SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
              AND name <> 'scratch' ORDER BY rowid
            """
        ) { $0.text() }
        return try names.map { name in
            let rows = try file.all(
                "SELECT name, type, pk FROM pragma_table_info(?) ORDER BY cid",
                [.text(name)]
            ) { row in
                (column: Column(name: row.text("name"), type: row.text("type")), pk: row.int("pk"))
            }
            let keys = rows.filter { $0.pk > 0 }.map(\.column)
            let isNumbered = keys.count == 1 && keys[0].type == "INTEGER"
            return MigratedTable(
                name: name,
                columns: rows.map(\.column),
                number: isNumbered ? keys[0].name : nil
            )
        }
    }

    private var list: String { columns.map(\.name).joined(separator: ", ") }

    var selection: String { "SELECT \(list) FROM \(name)" }

    var insertion: String {
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        return "INSERT INTO \(name) (\(list)) VALUES (\(places))"
    }

    func row(_ values: RowValues) -> [SQLValue] {
        columns.enumerated().map { index, column in
            let place = Int32(index)
            guard !values.isNull(at: place) else { return .null }
            return switch column.type {
            case "INTEGER": .int(values.int64(at: place))
            case "TEXT": .text(values.text(at: place))
            default: .blob(values.blob(at: place))
            }
        }
    }
}

/// The sum of the hashes of rows, whatever their order.
struct RowSum: Equatable {
    private(set) var count = 0
    private var parts: [UInt64] = [0, 0, 0, 0]

    mutating func add(_ row: [SQLValue]) {
        var bytes: [UInt8] = []
        for value in row {
            let (kind, content) = Self.parts(of: value)
            // Lengths keep neighbours apart.
            bytes += Array("\(kind) \(content.count) ".utf8) + content
        }
        let hash = MerkleHash.leaf(bytes)
        for part in 0..<4 {
            let word = hash[part * 8..<part * 8 + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            parts[part] &+= word
        }
        count += 1
    }

    private static func parts(of value: SQLValue) -> (kind: String, content: [UInt8]) {
        switch value {
        case .null: ("null", [])
        case .int(let number): ("int", Array("\(number)".utf8))
        case .text(let text): ("text", Array(text.utf8))
        case .blob(let blob): ("blob", blob)
        case .id(let id): ("id", Array(id.description.utf8))
        }
    }
}
