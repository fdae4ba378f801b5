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
        guard !counts.entries.isEmpty || !counts.lingering.isEmpty else { return empty }
        var text = "["
        for entry in counts.entries {
            text += text.utf8.count > 1 ? ",[" : "["
            quote(entry.name, into: &text)
            text += ","
            quote(entry.action, into: &text)
            text += ","
            text += String(entry.rowCount)
            text += ","
            text += String(entry.fencedCount)
            text += "]"
        }
        for copy in counts.lingering {
            text += text.utf8.count > 1 ? ",[" : "["
            quote(copy.text, into: &text)
            text += ","
            text += copy.until.map { String($0.unixMilliseconds) } ?? "null"
            text += "]"
        }
        return text + "]"
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

    private static func quote(_ value: String, into text: inout String) {
        text += "\""
        if value.utf8.contains(where: { $0 < 0x20 || $0 == Self.quote || $0 == Self.backslash }) {
            for scalar in value.unicodeScalars { text += escaped(scalar) }
        } else {
            text += value
        }
        text += "\""
    }

    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\"": return "\\\""
        case "\\": return "\\\\"
        case "\u{00}"..."\u{1f}":
            let digits = String(scalar.value, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        default: return String(scalar)
        }
    }
}
