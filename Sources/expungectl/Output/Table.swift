/// Columns of text, aligned by the width of their longest cell.
struct Table {
    private var rows: [[String]]

    init(_ header: String...) { rows = [header] }

    init(_ header: [String]) { rows = [header] }

    mutating func add(_ cells: String?...) { add(cells) }

    mutating func add(_ cells: [String?]) {
        rows.append(cells.map { Self.harmless($0 ?? "-") })
    }

    var text: String {
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], cell.count)
            }
        }
        return rows.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                line += cell
                if column < row.count - 1 {
                    line += String(repeating: " ", count: widths[column] - cell.count + 2)
                }
            }
            return line
        }.joined(separator: "\n")
    }

    /// Text in which nothing can move the cursor or turn the reading direction.
    static func harmless(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
                result += "\\u{" + String(scalar.value, radix: 16) + "}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
