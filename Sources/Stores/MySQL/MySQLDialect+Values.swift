import Encoding
import Lifecycle

/// Values that an operator writes: of masks, holds and conditions.
extension MySQLDialect {
    /// As the column's type compares; a text of a number never meets a column of texts, which the
    /// server would read as numbers.
    static func isHeld(_ filter: RowFilter, in table: TableShape) -> String {
        let tests = filter.conditions.map { condition in
            let column = column(condition.column, of: table.reference)
            let values = condition.values.map {
                value(of: $0, in: shape(condition.column, in: table))
            }
            return "COALESCE(\(column) IN (\(values.joined(separator: ", "))), FALSE)"
        }
        return "(" + tests.joined(separator: " AND ") + ")"
    }

    static func isOneOf(
        _ values: [ColumnCondition.Value],
        _ column: String,
        in table: TableShape
    ) -> String {
        let found = shape(column, in: table)
        let texts = values.map { given in
            switch given {
            case .text(let text): value(of: text, in: found)
            case .integer(let number): value(of: "\(number)", in: found)
            }
        }
        let name = self.column(column, of: table.reference)
        return "\(name) IN (\(texts.joined(separator: ", ")))"
    }

    /// ``problem(ofValue:in:)`` has refused what is no value of the column.
    static func value(of text: String, in column: ColumnShape?) -> String {
        guard let column else { return literal(text) }
        switch column.kind {
        case .number: return isNumber(text) ? text : literal(text)
        case .text:
            return "CONVERT(\(literal(text)) USING \(column.characterSet))"
                + " COLLATE \(column.collation)"
        case .bytes, .time, .other: return literal(text)
        }
    }

    /// Why a column never has a value that an operator wrote; `nil` where it may.
    static func problem(ofValue text: String, in column: ColumnShape) -> String? {
        switch column.kind {
        case .number where !isNumber(text): "holds numbers, and a value is none"
        case .time where !isTime(text):
            "holds times, and a value is none"
        case .text where column.members.map({ !$0.contains(text) }) ?? false:
            "\(column.typeText) and has no such value"
        case .number, .time, .text, .bytes: nil
        case .other: "\(column.typeText), which cannot be compared"
        }
    }

    /// Digits with a fraction: no sign of an exponent, which would make it inexact.
    private static func isNumber(_ text: String) -> Bool {
        let parts = text.drop { $0 == "-" }.split(separator: ".", omittingEmptySubsequences: false)
        return text.utf8.count <= 65 && text.count - text.drop { $0 == "-" }.count <= 1
            && (1...2).contains(parts.count)
            && parts.allSatisfy { part in
                !part.isEmpty && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
            }
    }

    /// `2025-06-01`, maybe with a time of day, or `12:30`.
    private static func isTime(_ text: String) -> Bool {
        let digits = text.utf8.prefix { (0x30...0x39).contains($0) }.count
        let next = text.utf8.dropFirst(digits).first
        return digits == 4 && next == UInt8(ascii: "-")
            || (1...3).contains(digits) && next == UInt8(ascii: ":")
    }

    // MARK: Masks

    static func mask(
        _ mask: ColumnMask,
        in table: TableShape,
        computed: inout [ColumnMask]
    ) -> (value: String, test: String) {
        let column = column(mask.column, of: table.reference)
        switch mask.strategy {
        case .null: return (value: "NULL", test: "\(column) IS NULL")
        case .text(let text): return constant(text, column, shape(mask.column, in: table))
        case .integer(let number):
            let found = shape(mask.column, in: table)
            guard found?.isText == true else {
                return (value: "\(number)", test: "\(column) <=> \(number)")
            }
            return constant("\(number)", column, found)
        case .hash, .random:
            computed.append(mask)
            let test = "(\(column) IS NULL OR \(isMask(bytes(column))))"
            return (value: "?\(computed.count)", test: test)
        case .truncate(let length): return cut(column, at: length)
        // Only of a part, which the check sees to.
        case .remove: return (value: column, test: "TRUE")
        }
    }

    private static func constant(
        _ text: String,
        _ column: String,
        _ found: ColumnShape?
    ) -> (value: String, test: String) {
        guard found?.isText == true else {
            return (value: literal(text), test: "\(column) <=> \(literal(text))")
        }
        // `char` comes without the blanks at its end.
        let isPadded = found?.type == "char"
        let kept = isPadded ? String(text.reversed().drop { $0 == " " }.reversed()) : text
        return (
            value: literal(text),
            test: "\(bytes(column)) <=> CAST(\(literal(kept)) AS BINARY)"
        )
    }

    /// As ``MaskText/isMask(_:key:)``; the session knows the key.
    private static func isMask(_ text: String) -> String {
        let start = MaskText.marker.utf8.count
        let body = "SUBSTR(\(text), \(start + 1), \(MaskText.bodyBytes * 2))"
        let proof = "SHA2(CONCAT(\(MySQLSession.proofKeyVariable), \(body)), 256)"
        return "COALESCE(OCTET_LENGTH(\(text)) = \(MaskText.length)"
            + " AND LEFT(\(text), \(start)) = '\(MaskText.marker)'"
            + " AND RIGHT(\(text), \(MaskText.tagBytes * 2))"
            + " = LEFT(\(proof), \(MaskText.tagBytes * 2)), FALSE)"
    }

    /// A text that was whole ends otherwise, or loses nothing but this end when it is cut.
    private static func cut(_ column: String, at length: Int) -> (value: String, test: String) {
        let end = literal(MaskText.cut)
        let isCut = "RIGHT(\(bytes(column)), 1) = CAST(\(end) AS BINARY)"
        let kept =
            "IF(CHAR_LENGTH(\(column)) > \(length), LEFT(\(column), \(length)), _utf8mb4 '')"
        return (
            value: "IF(\(column) IS NULL, NULL, CONCAT(\(kept), \(end)))",
            test: "(\(column) IS NULL OR OCTET_LENGTH(\(column)) = 0"
                + " OR (CHAR_LENGTH(\(column)) IN (1, \(length + 1)) AND \(isCut)))"
        )
    }

    static func problem(
        of strategy: MaskStrategy,
        _ column: ColumnShape,
        in table: TableShape
    ) -> String? {
        switch strategy {
        case .null, .truncate, .remove: nil
        case .hash, .random:
            table.rowKeys.isEmpty
                ? "is in a table without a primary key or unique columns that are NOT NULL, which"
                    + " hash and random need" : nil
        case .integer(let number): problem(ofMask: "\(number)", in: column)
        case .text(let text): problem(ofMask: text, in: column)
        }
    }

    private static func problem(ofMask text: String, in column: ColumnShape) -> String? {
        if column.kind == .text, let lengthMax = column.lengthMax, text.count > lengthMax {
            return "holds \(lengthMax) characters, and the constant has \(text.count)"
        }
        return problem(ofValue: text, in: column)
    }
}

extension ColumnShape {
    enum Kind { case number, text, bytes, time, other }

    /// How the server compares it.
    var kind: Kind {
        if isText { return type == "json" ? .other : .text }
        return switch type {
        case "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "float", "double",
            "year":
            .number
        case "date", "datetime", "timestamp", "time": .time
        case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob": .bytes
        default: .other
        }
    }

    /// The values of an `enum`, as `enum('a','it''s')` declares them; `nil` for another type.
    var members: [String]? {
        guard type == "enum" else { return nil }
        let list = declaration.dropFirst("enum(".count).dropLast()
        var members: [String] = []
        var isOpen = false
        var member = ""
        var rest = list[...]
        while let character = rest.popFirst() {
            guard character == "'" else {
                if isOpen { member.append(character) }
                continue
            }
            if isOpen, rest.first == "'" {
                member.append("'")
                rest.removeFirst()
            } else {
                if isOpen { members.append(member) }
                (isOpen, member) = (!isOpen, "")
            }
        }
        return members
    }
}
