import Engine
import GRDB

/// A value as the application wrote it, type included: nothing about it is believed.
enum SpoolCell: Hashable, Sendable {
    case null
    case text(String)
    /// A number, a blob, or text that is not UTF-8.
    case other(type: String, bytes: [UInt8])

    init(_ row: SQLRow, at index: Int) {
        let column = ColumnName.at(Int32(index))
        guard let type = row.typeName(column) else {
            self = .null
            return
        }
        if type == "text", let text = row.validText(column) {
            self = .text(text)
        } else {
            self = .other(type: type, bytes: row.blob(column))
        }
    }

    var byteCount: Int {
        switch self {
        case .null: 0
        case .text(let text): text.utf8.count
        case .other(_, let bytes): bytes.count
        }
    }

    var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }
}

struct SpoolRawRow: Sendable {
    let table: SpoolTable
    let id: Int64
    /// Its input columns, in order.
    let cells: [SpoolCell]

    init(table: SpoolTable, id: Int64, cells: [SpoolCell]) {
        (self.table, self.id, self.cells) = (table, id, cells)
    }

    init(_ row: SQLRow, of table: SpoolTable) {
        self.table = table
        id = row.int64(.at(0))
        cells = table.inputColumns.indices.map { index in
            SpoolCell(row, at: 1 + index)
        }
    }

    var byteCount: Int { cells.reduce(0) { $0 + $1.byteCount } }

    func cell(_ column: String) -> SpoolCell {
        guard let index = table.inputColumns.firstIndex(of: column) else { return .null }
        return cells[index]
    }

    /// Keyed hash of the input columns; lengths keep neighbours apart.
    func fingerprint(_ hasher: any KeyedHasher) -> [UInt8] {
        var text = table.rawValue
        text.reserveCapacity(text.utf8.count + byteCount + cells.count * 16)
        for cell in cells {
            switch cell {
            case .null:
                text += "\nnull"
            case .text(let value):
                // Piece by piece: an interpolation costs more than the hash.
                text += "\ntext "
                text += String(value.utf8.count)
                text += " "
                text += value
            case .other(let type, let bytes):
                text += "\n\(type) \(bytes.count)"
                for byte in bytes { text += " \(byte)" }
            }
        }
        return hasher.hash(text, domain: .spoolRow)
    }
}
