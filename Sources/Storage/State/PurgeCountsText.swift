import FoundationEssentials
import Lifecycle

/// The counts of a purge as JSON: `[["posts","delete",12,0]]`, name, action, rows, fenced rows.
///
/// Behind them, copies that linger: `["soft-deleted objects",1767225600000]`, text and Unix time in
/// milliseconds or `null`.
enum PurgeCountsText {
    static let empty = "[]"

    /// Written by hand: it is on the path of every purge.
    static func encode(_ counts: PurgeCounts) -> String {
        var rows = counts.entries.map { entry in
            "[\(quote(entry.name)),\(quote(entry.action)),\(entry.rowCount),\(entry.fencedCount)]"
        }
        for copy in counts.lingering {
            let until = copy.until.map { "\($0.unixMilliseconds)" } ?? "null"
            rows.append("[\(quote(copy.text)),\(until)]")
        }
        return rows.isEmpty ? empty : "[" + rows.joined(separator: ",") + "]"
    }

    /// - Throws: ``StorageError`` of kind `malformed`.
    static func decode(_ text: String) throws -> PurgeCounts {
        guard text != empty else { return PurgeCounts() }
        do {
            let rows = try JSONDecoder().decode([Row].self, from: Data(text.utf8))
            var counts = PurgeCounts()
            for row in rows {
                switch row {
                case .entry(let entry): counts.entries.append(entry)
                case .lingering(let copy): counts.lingering.append(copy)
                }
            }
            return counts
        } catch {
            throw SQLRow.malformed("counts")
        }
    }

    private enum Row: Decodable {
        case entry(PurgeCounts.Entry)
        case lingering(PurgeCounts.Lingering)

        /// Members of a row of counts.
        private static let entryMembers = 4

        init(from decoder: any Decoder) throws {
            var values = try decoder.unkeyedContainer()
            guard values.count == Self.entryMembers else {
                let text = try values.decode(String.self)
                let isEndless = try values.decodeNil()
                let until = isEndless ? nil : try values.decode(Int64.self)
                self = .lingering(
                    PurgeCounts.Lingering(
                        text: text,
                        until: until.map { WallTime(unixMilliseconds: $0) }
                    )
                )
                return
            }
            self = .entry(
                PurgeCounts.Entry(
                    name: try values.decode(String.self),
                    action: try values.decode(String.self),
                    rowCount: try values.decode(Int.self),
                    fencedCount: try values.decode(Int.self)
                )
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
