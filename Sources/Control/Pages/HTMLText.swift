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

    /// A page to print or send: one file, no script, nothing from elsewhere; all parts are HTML.
    package static func page(
        title: String,
        language: String = "en",
        style: String,
        body: [String]
    ) -> String {
        """
        <!DOCTYPE html>
        <html lang="\(language)">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
        style-src 'unsafe-inline'">
        <title>\(title)</title>
        <style>
        \(style)
        </style>
        </head>
        <body>
        \(body.joined(separator: "\n"))
        </body>
        </html>
        """
    }

    /// The head and the rows of a table; all is HTML already, and the first cell names its row.
    static func grid(_ head: [String], _ rows: [[String]], numbers: Set<Int>) -> String {
        func style(_ column: Int) -> String { numbers.contains(column) ? " class=\"n\"" : "" }
        let top = head.enumerated().map { "<th scope=\"col\"\(style($0))>\($1)</th>" }
        let body = rows.map { row in
            let cells = row.enumerated().map { column, cell in
                column == 0 ? "<th scope=\"row\">\(cell)</th>" : "<td\(style(column))>\(cell)</td>"
            }
            return "<tr>\(cells.joined())</tr>"
        }
        return """
            <thead><tr>\(top.joined())</tr></thead>
            <tbody>
            \(body.joined(separator: "\n"))
            </tbody>
            """
    }

    /// A table of names and values, which are HTML already.
    package static func facts(_ rows: [(String, String)]) -> String {
        let body = rows.map { "<tr><th scope=\"row\">\($0.0)</th><td>\($0.1)</td></tr>" }
        return "<table class=\"facts\">\n\(body.joined(separator: "\n"))\n</table>\n"
    }
}
