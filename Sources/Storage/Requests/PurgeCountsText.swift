import FoundationEssentials
import Lifecycle

/// The counts of a purge as JSON: `[["posts","delete",12,0]]`, name, action, rows, newer rows.
///
/// Behind them, residual copies: `["soft-deleted objects",1767225600000]`, text and Unix time in
/// milliseconds or `null`; then `["begun"]` while the outcome of a pass is unknown, and
/// `["at least"]` where one never did.
enum PurgeCountsText {
    static let empty = "[]"

    /// Written by hand: it is on the path of every purge.
    static func encode(_ counts: PurgeCounts) -> String {
        guard counts != PurgeCounts() else { return empty }
        var text = "["
        for entry in counts.entries {
            text += text.utf8.count > 1 ? ",[" : "["
            quote(entry.name, into: &text)
            text += ","
            quote(entry.action, into: &text)
            text += ","
            text += String(entry.rowCount)
            text += ","
            text += String(entry.newerCount)
            text += "]"
        }
        for copy in counts.residualCopies {
            text += text.utf8.count > 1 ? ",[" : "["
            quote(copy.text, into: &text)
            text += ","
            text += copy.until.map { String($0.unixMilliseconds) } ?? "null"
            text += "]"
        }
        let words = [(Word.begun, counts.isPassOpen), (Word.atLeast, counts.isAtLeast)]
        for (word, isSo) in words where isSo {
            text += (text.utf8.count > 1 ? ",[" : "[") + "\"\(word.rawValue)\"]"
        }
        return text + "]"
    }

    static func decode(_ text: String) throws -> PurgeCounts {
        guard text != empty else { return PurgeCounts() }
        do {
            let rows = try JSONDecoder().decode([Row].self, from: Data(text.utf8))
            var counts = PurgeCounts()
            var words: Set<Word> = []
            for row in rows {
                switch row {
                case .entry(let entry): counts.entries.append(entry)
                case .residualCopies(let copy): counts.residualCopies.append(copy)
                case .word(let word): words.insert(word)
                }
            }
            counts.restore(
                isPassOpen: words.contains(.begun),
                isAtLeast: words.contains(.atLeast)
            )
            return counts
        } catch {
            throw StorageError.malformed("counts")
        }
    }

    private enum Word: String, Decodable {
        case begun
        case atLeast = "at least"
    }

    private enum Row: Decodable {
        case entry(PurgeCounts.Entry)
        case residualCopies(PurgeCounts.ResidualCopies)
        case word(Word)

        /// Members of a row of counts.
        private static let entryMembers = 4

        init(from decoder: any Decoder) throws {
            var values = try decoder.unkeyedContainer()
            if values.count == 1 {
                self = .word(try values.decode(Word.self))
                return
            }
            guard values.count == Self.entryMembers else {
                let text = try values.decode(String.self)
                let isEndless = try values.decodeNil()
                let until = isEndless ? nil : try values.decode(Int64.self)
                self = .residualCopies(
                    PurgeCounts.ResidualCopies(
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
                    newerCount: try values.decode(Int.self)
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
