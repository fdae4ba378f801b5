/// What a statement answered.
struct MySQLRows {
    let rows: [[MySQLValue]]
    /// Rows that were changed, or would have been if they were otherwise.
    let changedCount: Int

    /// Values as the shared code reads them; `nil` for NULL.
    var typed: [[BoundValue?]] { rows.map { $0.map(\.bound) } }

    /// A value of the first row as text; `nil` for NULL and when there is none.
    func text(_ column: Int) -> String? {
        guard let row = rows.first, column < row.count else { return nil }
        return row[column].text
    }
}

/// A value on its way from or to the server, with the type that compares it exactly.
enum MySQLValue: Hashable {
    case null
    case integer(Int64)
    /// As text, which no binary fraction rounds; also an integer beyond 64 bits with sign.
    case decimal([UInt8])
    /// In UTF-8; also times.
    case text([UInt8])
    case blob([UInt8])

    init(_ value: BoundValue?) {
        self =
            switch value {
            case nil: .null
            case .integer(let number): .integer(number)
            case .real(let number): .decimal(Array("\(number)".utf8))
            case .text(let bytes): .text(bytes)
            case .blob(let bytes): .blob(bytes)
            }
    }

    /// A decimal is a text: whoever wants a number reads it.
    var bound: BoundValue? {
        switch self {
        case .null: nil
        case .integer(let number): .integer(number)
        case .decimal(let bytes), .text(let bytes): .text(bytes)
        case .blob(let bytes): .blob(bytes)
        }
    }

    var text: String? {
        switch self {
        case .null: nil
        case .integer(let number): "\(number)"
        case .decimal(let bytes), .text(let bytes), .blob(let bytes):
            String(decoding: bytes, as: UTF8.self)
        }
    }

    var isNull: Bool { self == .null }
}
