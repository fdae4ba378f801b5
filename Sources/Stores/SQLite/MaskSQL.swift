/// The SQL of anonymization: how a column is masked, and how a masked one is recognised.
struct MaskSQL {
    /// The SQL functions that a target registers on its connection.
    enum Function {
        static let hash = "expunged_hash"
        static let random = "expunged_random"
        /// Whether a value is such a mask.
        static let isMask = "expunged_is_mask"
    }

    /// The part behind SET: `"column" = expression`, separated by commas.
    private(set) var assignments = ""
    /// 1 when every column of a row is masked, else 0.
    private(set) var isMasked = ""
    /// Bound from ``PreparedQuery/Place/constants`` on.
    private(set) var constants: [BoundValue] = []

    init(_ masks: [ColumnMask], table: String) {
        for mask in masks { add(mask, table: table) }
    }

    private mutating func add(_ mask: ColumnMask, table: String) {
        let column = CutoffSQL.quoted(mask.column)
        let value: String
        let test: String
        switch mask.strategy {
        case .null: (value, test) = ("NULL", "\(column) IS NULL")
        case .text(let text):
            let place = bind(.text(Array(text.utf8)))
            (value, test) = (place, "\(column) IS \(place)")
        case .integer(let number):
            let place = bind(.integer(number))
            (value, test) = (place, "\(column) IS \(place)")
        case .hash:
            // The label keeps equal values of two columns apart.
            let label = bind(.text(Array("\(table).\(mask.column)".utf8)))
            (value, test) = ("\(Function.hash)(\(column), \(label))", Self.hasMarker(column))
        case .random: (value, test) = ("\(Function.random)(\(column))", Self.hasMarker(column))
        case .truncate(let length):
            let place = bind(.integer(Int64(length)))
            (value, test) = (Self.cut(column, at: place), Self.isCut(column, at: place))
        }
        assignments += (assignments.isEmpty ? "" : ", ") + "\(column) = \(value)"
        isMasked += (isMasked.isEmpty ? "" : " AND ") + test
    }

    private mutating func bind(_ value: BoundValue) -> String {
        constants.append(value)
        return "?\(Int(PreparedQuery.Place.constants) + constants.count - 1)"
    }

    /// No zero byte is in a text: length(), substr() and GLOB see nothing behind one
    /// (sqlite.org/nulinstr.html).
    private static func isWhole(_ column: String) -> String { "instr(\(column), char(0)) = 0" }

    private static func hasMarker(_ column: String) -> String {
        "(\(column) IS NULL OR (typeof(\(column)) = 'text' AND length(\(column)) = "
            + "\(MaskText.length) AND \(Self.isWhole(column)) AND \(Function.isMask)(\(column))))"
    }

    private static func cut(_ column: String, at place: String) -> String {
        "CASE WHEN \(column) IS NOT NULL THEN iif(typeof(\(column)) = 'text'"
            + " AND length(\(column)) > \(place), substr(\(column), 1, \(place)), '')"
            + " || '\(MaskText.cut)' END"
    }

    /// A text that was whole ends otherwise, or loses nothing but this end when it is cut.
    private static func isCut(_ column: String, at place: String) -> String {
        "(\(column) IS NULL OR (typeof(\(column)) = 'text' AND \(Self.isWhole(column))"
            + " AND (\(column) COLLATE BINARY IN ('', '\(MaskText.cut)')"
            + " OR (length(\(column)) = \(place) + 1"
            + " AND substr(\(column), -1) = '\(MaskText.cut)'))))"
    }
}
