import Control
import Encoding

/// A receipt as a page to print: one file, no script, nothing from elsewhere.
struct ReceiptPage {
    let receipt: JSONValue

    /// The whole page.
    var html: String {
        let title = "Receipt \(field("request_id", of: receipt))"
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
            style-src 'unsafe-inline'">
            <title>\(title)</title>
            <style>
            \(Self.style)
            </style>
            </head>
            <body>
            <h1>\(title)</h1>
            <p class="summary">\(field("summary", of: receipt))</p>
            \(facts)
            \(identities)
            \(targets)
            \(notErased)
            \(horizon)
            \(rechecks)
            \(ledger)
            </body>
            </html>
            """
    }

    private static let style = """
        body { font: 11pt/1.4 sans-serif; max-width: 48em; margin: 2em auto; color: #000 }
        table { border-collapse: collapse; width: 100%; margin: .5em 0 1em }
        th, td { text-align: left; vertical-align: top; border-bottom: 1px solid #999 }
        th, td { padding: .2em .6em .2em 0; overflow-wrap: anywhere }
        h1 { font-size: 15pt } h2 { font-size: 12pt; margin-top: 1.5em }
        .summary { font-weight: bold } .no { font-weight: bold }
        pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 8pt }
        @media print { body { margin: 0; max-width: none } h2, tr { break-after: avoid } }
        @page { margin: 18mm }
        """

    private var facts: String {
        let names = [
            "kind", "state", "created_at", "accepted_at", "purge_started_at",
            "completed_at", "scrubbed_at", "configuration",
        ]
        let rows = names.compactMap { name in receipt[name].map { [Self.words(name), text($0)] } }
        return table(nil, rows)
    }

    private var identities: String {
        let rows = items("identities").map { identity in
            var evidence = field("evidence", of: identity)
            if let action = identity["user_action"] {
                evidence += "<br>\(field("text", of: action)) \(field("url", of: action))"
            }
            return [
                field("provider", of: identity) + "<br>" + field("client_id", of: identity),
                revoked(identity), field("verdict", of: identity),
                evidence, field("decided_at", of: identity),
            ]
        }
        return section("Links to providers")
            + table(["Provider", "Revoked", "Verdict", "Evidence", "Decided"], rows)
            + note("abandoned", "Abandoned") + forgotten + addenda
    }

    private func revoked(_ identity: JSONValue) -> String {
        if identity["revoked"] == .bool(true) { return "yes" }
        let isNothing = identity["verdict"] == .string("nothing_to_revoke")
        return isNothing ? "nothing to revoke" : "<span class=\"no\">NO</span>"
    }

    /// What became known of verdicts later; they stay as they are.
    private var addenda: String {
        let rows = items("addenda").map { addendum in
            ["provider", "verdict", "evidence", "occurred_at", "at"].map {
                field($0, of: addendum)
            }
        }
        guard !rows.isEmpty else { return "" }
        return section("Known later")
            + table(["Provider", "Verdict", "Evidence", "Happened", "Recorded"], rows)
    }

    /// Identities of which nothing was left to revoke with.
    private var forgotten: String {
        items("forgotten").map { identity in
            "<p class=\"no\">Forgotten by uid \(field("uid", of: identity)) on "
                + "\(field("at", of: identity)), not revoked: "
                + "\(field("provider", of: identity))</p>"
        }.joined()
    }

    private func note(_ name: String, _ verb: String) -> String {
        guard let note = receipt[name] else { return "" }
        let uid = field("uid", of: note)
        return "<p class=\"no\">\(verb) by uid \(uid): \(field("reason", of: note))</p>"
    }

    private var targets: String {
        var rows: [[String]] = []
        for target in items("targets") {
            let isVerified = target["verified"] == .bool(true)
            for entry in array(target["tables"]) {
                rows.append([
                    field("target", of: target), field("table", of: entry),
                    field("action", of: entry), count(of: entry, in: target),
                    field("newer_rows", of: entry), field("cutoff", of: entry),
                    isVerified
                        ? field("verified_at", of: target) : "<span class=\"no\">NO</span>",
                ])
            }
        }
        return section("Erased")
            + table(
                ["Store", "Where", "Action", "Count", "Left as newer", "Newer than", "Verified"],
                rows
            )
    }

    /// A purge that broke off has not told what it did; what is left was counted by the last one.
    private func count(of entry: JSONValue, in target: JSONValue) -> String {
        let rows = field("rows", of: entry)
        let action = field("action", of: entry)
        let isLeft = action.hasPrefix("keep") || action.hasPrefix("held")
        return target["counts"] == .string("at_least") && !isLeft ? "at least " + rows : rows
    }

    private var notErased: String {
        let rows = items("not_erased").map { item in
            ["target", "table", "rows", "reason"].map { field($0, of: item) }
        }
        let scope = items("not_in_scope").map { "<li>\(text($0))</li>" }.joined(separator: "\n")
        return section("Not erased") + table(["Store", "Where", "Count", "Why"], rows)
            + section("Not in scope") + "<ul>\n\(scope)\n</ul>"
    }

    private var horizon: String {
        let rows = items("targets").map { target in
            let copies = array(target["residual_copies"]).map { copy in
                field("what", of: copy) + (copy["until"].map { " until " + text($0) } ?? "")
            }
            let end = target["erasure_horizon"].map(text) ?? "not known"
            return [
                field("target", of: target), field("backups_kept_until", of: target),
                copies.joined(separator: "<br>"), end,
            ]
        }
        guard !rows.isEmpty else { return "" }
        let whole = receipt["erasure_horizon"].map { "After \(text($0)) no copy is left." }
        return section("Until when copies survive")
            + table(["Store", "Backups until", "Kept by the store", "Gone after"], rows)
            + "<p>\(whole ?? "When the last copy is gone is not known for every store.")</p>"
    }

    private var rechecks: String {
        guard receipt["rechecks"] != nil else { return "" }
        let rows = items("rechecks").map { recheck in
            let found = array(recheck["found"]).map {
                "\(field("target", of: $0)): \(field("rows", of: $0))"
            }
            return [
                field("at", of: recheck), field("outcome", of: recheck),
                found.joined(separator: "<br>"),
                array(recheck["not_configured"]).map(text).joined(separator: "<br>"),
            ]
        }
        let next = receipt["next_recheck_at"].map { "Next: \(text($0))." }
        let ended = note("rechecks_abandoned", "Ended")
        return section("Looked at again")
            + table(["When", "Outcome", "Found", "Not configured any more"], rows)
            + "<p>\(next ?? "No further look is due.")</p>\n" + (ended.isEmpty ? "" : ended + "\n")
    }

    private var ledger: String {
        guard let ledger = receipt["ledger"] else { return "" }
        let rows = array(ledger["entries"]).map { entry in
            [field("index", of: entry), field("entry", of: entry)]
        }
        return section("Ledger") + table(["Entry", "What was written"], rows)
            + "<p>Key: \(field("key", of: ledger))</p>"
            + "<pre>\(field("checkpoint", of: ledger))</pre>"
    }
}

extension ReceiptPage {
    private func section(_ title: String) -> String { "<h2>\(title)</h2>\n" }

    /// Cells are HTML already.
    private func table(_ head: [String]?, _ rows: [[String]]) -> String {
        guard !rows.isEmpty else { return "<p>None.</p>\n" }
        let top = head.map { "<tr>" + $0.map { "<th>\($0)</th>" }.joined() + "</tr>\n" } ?? ""
        let body = rows.map { row in "<tr>" + row.map { "<td>\($0)</td>" }.joined() + "</tr>" }
        return "<table>\n\(top)\(body.joined(separator: "\n"))\n</table>\n"
    }

    private func items(_ name: String) -> [JSONValue] { array(receipt[name]) }

    private func array(_ value: JSONValue?) -> [JSONValue] {
        guard case .array(let items)? = value else { return [] }
        return items
    }

    private func field(_ name: String, of value: JSONValue) -> String {
        value[name].map(text) ?? ""
    }

    /// What a value says, harmless in HTML.
    private func text(_ value: JSONValue) -> String {
        switch value {
        case .string(let text): Self.escaped(text)
        case .integer(let number): "\(number)"
        case .bool(let claim): claim ? "yes" : "no"
        case .null, .number, .array, .object: ""
        }
    }

    private static func words(_ name: String) -> String { name.replacing("_", with: " ") }

    /// Every character that HTML or an attribute could take for its own; control characters go.
    static func escaped(_ text: String) -> String {
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
}
