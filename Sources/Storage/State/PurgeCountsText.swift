import FoundationEssentials
import Lifecycle

/// The counts of a purge as JSON: `[["posts","delete",12,0]]`, name, action, rows, fenced rows.
enum PurgeCountsText {
    static let empty = "[]"

    /// Written by hand: it is on the path of every purge.
    static func encode(_ counts: PurgeCounts) -> String {
        guard !counts.entries.isEmpty else { return empty }
        let entries = counts.entries.map { entry in
            "[\(quote(entry.name)),\(quote(entry.action)),\(entry.rowCount),\(entry.fencedCount)]"
        }
        return "[" + entries.joined(separator: ",") + "]"
    }

    /// - Throws: ``StorageError`` of kind `malformed`.
    static func decode(_ text: String) throws -> PurgeCounts {
        guard text != empty else { return PurgeCounts() }
        do {
            let rows = try JSONDecoder().decode([Row].self, from: Data(text.utf8))
            return PurgeCounts(entries: rows.map(\.entry))
        } catch {
            throw SQLRow.malformed("counts")
        }
    }

    private struct Row: Decodable {
        let entry: PurgeCounts.Entry

        init(from decoder: any Decoder) throws {
            var values = try decoder.unkeyedContainer()
            entry = PurgeCounts.Entry(
                name: try values.decode(String.self),
                action: try values.decode(String.self),
                rowCount: try values.decode(Int.self),
                fencedCount: try values.decode(Int.self)
            )
        }
    }

    private static func quote(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\u{00}"..."\u{1f}":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
