/// Text for HTML, in an element or in a quoted attribute.
package enum HTMLText {
    /// Every character that HTML or an attribute could take for its own; control characters go.
    package static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case "\n": escaped.unicodeScalars.append(scalar)
            case _ where scalar.value < 0x20 || (0x7f..<0xa0).contains(scalar.value): continue
            // Marks that turn the direction of what follows could show another text than there is.
            case "\u{202a}"..."\u{202e}", "\u{2066}"..."\u{2069}", "\u{200e}", "\u{200f}": continue
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// A table of names and values, which are HTML already.
    package static func facts(_ rows: [(String, String)]) -> String {
        let body = rows.map { "<tr><th scope=\"row\">\($0.0)</th><td>\($0.1)</td></tr>" }
        return "<table class=\"facts\">\n\(body.joined(separator: "\n"))\n</table>\n"
    }
}
