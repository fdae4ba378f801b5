/// Columns of text, aligned by the width of their longest cell.
struct Table {
    private var rows: [[String]]

    init(_ header: String...) { rows = [header] }

    init(_ header: [String]) { rows = [header] }

    mutating func add(_ cells: String?...) { add(cells) }

    mutating func add(_ cells: [String?]) {
        rows.append(cells.map { Self.harmless($0 ?? "-") })
    }

    var text: String { text(widths) }

    /// The text in at most `columnCount` columns: the cells of `shrinking` are cut, the first of
    /// them first, each down to its least width.
    func text(within columnCount: Int, shrinking: [(column: Int, least: Int)]) -> String {
        var widths = widths
        for (column, least) in shrinking {
            let excess = widths.reduce(0) { $0 + $1 + 2 } - 2 - columnCount
            widths[column] -= max(0, min(excess, widths[column] - least))
        }
        return text(widths)
    }

    private var widths: [Int] {
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], Self.width(cell))
            }
        }
        return widths
    }

    private func text(_ widths: [Int]) -> String {
        rows.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                let cell = Self.clip(cell, to: widths[column])
                line += cell
                if column < row.count - 1 {
                    line += String(repeating: " ", count: widths[column] - Self.width(cell) + 2)
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

    /// The text, or its beginning and an ellipsis, in at most `columnCount` columns of a terminal.
    static func clip(_ text: String, to columnCount: Int) -> String {
        guard width(text) > columnCount else { return text }
        var result = ""
        var room = columnCount - 1
        for character in text {
            room -= width("\(character)")
            guard room >= 0 else { break }
            result.append(character)
        }
        return result + "…"
    }

    /// The columns that text takes on a terminal.
    static func width(_ text: String) -> Int {
        text.unicodeScalars.reduce(0) { sum, scalar in
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .enclosingMark: sum
            default: sum + (isWide(scalar) ? 2 : 1)
            }
        }
    }

    /// East Asian Wide or Fullwidth, roughly (Unicode Standard Annex 11).
    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x115f, 0x2e80...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f,
            0xff00...0xff60, 0xffe0...0xffe6, 0x1f300...0x1faff, 0x20000...0x3fffd:
            true
        default: scalar.properties.isEmojiPresentation
        }
    }
}
