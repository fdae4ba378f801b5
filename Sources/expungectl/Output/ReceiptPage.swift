import Control
import Encoding
import Lifecycle

/// A receipt as a page to print or send: one file, no script, nothing from elsewhere.
///
/// Texts that the configuration, a provider or an operator wrote stand in their own language.
struct ReceiptPage {
    let receipt: JSONValue
    var language = MessageLanguage.english
    /// When the page is made; `nil` leaves the date out.
    var issuedAt: WallTime?

    /// The whole page.
    var html: String {
        let title = phrase(receipt["kind"] == "revoke_tokens" ? .revocationTitle : .title)
        return HTMLText.page(
            title: "\(title) \(field("request_id", of: receipt))",
            language: language.rawValue,
            style: Self.style,
            body: [
                "<h1>\(title)</h1>", facts, summary, identities, erased, kept, copies, recipients,
                rechecks, decisions, scope, verification,
            ]
        )
    }

    private static let style = """
        body { font: 10.5pt/1.4 sans-serif; max-width: 46em; margin: 2em auto; padding: 0 1em;
          color: #111 }
        h1 { font-size: 17pt; margin: 0 0 .6em } h2 { font-size: 12pt; margin: 1.4em 0 .3em }
        table { border-collapse: collapse; width: 100%; margin: .3em 0 }
        th, td { text-align: left; vertical-align: top; padding: .25em .8em .25em 0 }
        tr { border-bottom: 1px solid #bbb } th { font-weight: 600 }
        td, th, p, li { overflow-wrap: break-word } p { margin: .4em 0 }
        .facts th { width: 11em } .count { text-align: right; white-space: nowrap }
        .summary { border: 1px solid #888; padding: .5em .9em } .no { font-weight: bold }
        .note, ul { font-size: 9.5pt } .count + td, .count + th { padding-left: .8em }
        ul { padding-left: 1.2em; margin: .3em 0 }
        .proof { font-size: 8pt } .proof td:first-child { white-space: nowrap }
        .proof td, pre, code { font-family: monospace; overflow-wrap: anywhere }
        pre { white-space: pre-wrap; font-size: 7.5pt; margin: .4em 0 }
        @media (max-width: 34em) {
        .wide, .wide tbody, .wide tr, .wide td, .wide th { display: block; width: auto;
          text-align: left }
        .wide thead { display: none } .wide tr { padding: .4em 0 } .facts th { width: 8em }
        .wide [data-label]::before { content: attr(data-label) ": "; color: #555 }
        }
        @media print {
        body { margin: 0; padding: 0; max-width: none; font: 9pt/1.3 sans-serif }
        h2 { margin-top: .9em } td, th { padding-top: .15em; padding-bottom: .15em }
        details { display: none }
        h2 { break-after: avoid } tr, .summary { break-inside: avoid }
        .verification { break-before: page }
        }
        @page { margin: 14mm 16mm }
        """

    // MARK: Head

    private var facts: String {
        var rows: [(String, String)] = []
        if let controller = receipt["controller"] {
            rows.append((phrase(.responsible), field("name", of: controller)))
            rows.append((phrase(.contact), field("contact", of: controller)))
        }
        rows.append((phrase(.request), "<code>\(field("request_id", of: receipt))</code>"))
        let times: [(ReceiptPhrase, String)] = [
            (.requested, "created_at"), (.begun, "purge_started_at"), (.completed, "completed_at"),
        ]
        for (name, member) in times where receipt[member] != nil {
            rows.append((phrase(name), time(receipt[member])))
        }
        if let issuedAt { rows.append((phrase(.issued), LocalTime.full(issuedAt))) }
        return HTMLText.facts(rows.filter { !$0.1.isEmpty })
    }

    /// The service's own summary in English, the same facts elsewhere, and what copies are left.
    private var summary: String {
        var sentences = language == .english ? [field("summary", of: receipt)] : ownSummary
        if receipt["kind"] != "revoke_tokens", !items("stores").isEmpty {
            let end = receipt["erasure_horizon"]
            sentences.append(end.map { phrase(.copiesUntil, time($0)) } ?? phrase(.copiesUnknown))
        }
        if !notErased.isEmpty { sentences.append(phrase(.keptSome)) }
        let text = sentences.filter { !$0.isEmpty }.joined(separator: " ")
        return "<p class=\"summary\">\(text)</p>\n"
    }

    private var ownSummary: [String] {
        let isDeletion = receipt["kind"] != "revoke_tokens"
        let stores = items("stores")
        let erased = stores.filter { $0["verified"] == true && !isNewerOnly($0) }
        var sentences: [String] = []
        if isDeletion, stores.isEmpty { sentences.append(phrase(.noStore)) }
        let groups: [(ReceiptPhrase, [JSONValue])] = [
            (.erasedFrom, erased), (.nothingNewer, stores.filter(isNewerOnly)),
            (.notSearched, stores.filter(isSearchedInPart)),
            (.promised, stores.filter { $0["accepted_until"] != nil }),
            (.notExamined, stores.filter(isUnexamined)),
        ]
        for (name, group) in groups where !group.isEmpty {
            let names = group.map { place(of: $0, name) }
            sentences.append(phrase(name, names.joined(separator: ", ")))
        }
        let known = ReceiptPhrase.scope.map { JSONValue.string($0.text(in: .english)) }
        if items("not_in_scope").contains(where: { !known.contains($0) }) {
            sentences.append(phrase(.notErasedSince))
        }
        sentences.append(linksSummary)
        let unread = items("unread_sources").map(text)
        if !unread.isEmpty {
            sentences.append(phrase(.unreadSources, unread.joined(separator: ", ")))
        }
        if let returned = receipt["data_returned_at"] {
            sentences.append(phrase(.dataReturned, time(returned)))
        }
        return sentences
    }

    /// A store, with the places in it that the phrase is about.
    private func place(of store: JSONValue, _ phrase: ReceiptPhrase) -> String {
        let name = field("store", of: store)
        let found =
            switch phrase {
            case .notSearched: unsearched(in: store)
            case .notExamined: places("unexamined", in: store)
            default: [String]()
            }
        return found.isEmpty ? name : "\(name) (\(found.joined(separator: ", ")))"
    }

    /// Tables where nothing led to the user's rows, and what no rule reaches.
    private func unsearched(in store: JSONValue) -> [String] {
        let tables = array(store["tables"]).filter {
            let code = action(of: $0)
            return code == .unreached || code == .unsearched
        }
        return tables.map { field("table", of: $0) } + places("unmapped", in: store)
    }

    /// What a search names, how many more there are, and the command that names those.
    private func places(_ member: String, in store: JSONValue) -> [String] {
        let names = array(store[member]).map(text)
        guard let more = store[member + "_more"], more != 0 else { return names }
        return names + ["+\(text(more)) (expungectl stores check)"]
    }

    private func isUnexamined(_ store: JSONValue) -> Bool {
        guard store["searched_on"] == nil else {
            return !places("unexamined", in: store).isEmpty
        }
        return store["searchable"] != false
    }

    private func isSearchedInPart(_ store: JSONValue) -> Bool {
        store["not_looked_for"] != nil || !unsearched(in: store).isEmpty
    }

    /// A link counts as cut only where the receipt says so.
    private var linksSummary: String {
        let identities = items("identities")
        let hasToken = identities.filter { $0["verdict"] != "nothing_to_revoke" }
        let refused = items("addenda").filter { $0["event"] == "credential_refused" }
        let left = hasToken.filter { $0["revoked"] != true } + items("forgotten") + refused
        guard left.isEmpty else {
            let names = left.map { field("provider", of: $0) }
            return phrase(.linksLeft, names.joined(separator: ", "))
        }
        if identities.isEmpty { return phrase(.noLinks) }
        return phrase(hasToken.isEmpty ? .nothingToRevoke : .linksCut)
    }

    /// Whether all that was found there is newer than the request.
    private func isNewerOnly(_ store: JSONValue) -> Bool {
        let entries = array(store["tables"]).filter { action(of: $0)?.isLeft != true }
        return store["verified"] == true && store["counts"] == nil
            && entries.allSatisfy { $0["rows"] == 0 }
            && entries.contains { ($0["newer_rows"] ?? 0) != 0 }
    }

    // MARK: Links

    private var identities: String {
        let rows = items("identities").map { identity -> [String] in
            let verdict = field("verdict", of: identity)
            let meaning = Self.verdicts[verdict].map { phrase($0) } ?? verdict
            var action = ""
            if let given = identity["user_action"] {
                let isShown = language == .english || given["configured"] == true
                let text = isShown ? field("text", of: given) : phrase(.removeAccess)
                action = "\(text) <code>\(field("url", of: given))</code>"
            }
            let evidence = language == .english ? field("evidence", of: identity) : meaning
            return [
                field("provider", of: identity) + "<br><span class=\"note\">"
                    + field("client_id", of: identity) + "</span>",
                "\(revoked(identity, verdict)) <span class=\"note\">(\(verdict))</span><br>"
                    + evidence,
                action, time(identity["decided_at"]),
            ]
        }
        guard !rows.isEmpty else { return "" }
        return section(.links) + table([.service, .result, .whatYouCanDo, .date], rows)
    }

    private static let verdicts: [String: ReceiptPhrase] = [
        "proven": .proven, "accepted": .accepted, "unconfirmed": .unconfirmed,
        "already_gone": .alreadyGone, "token_dead": .tokenDead, "manual": .manual,
        "nothing_to_revoke": .nothingToRevoke, "unrevoked": .unrevoked, "abandoned": .abandoned,
    ]

    private func revoked(_ identity: JSONValue, _ verdict: String) -> String {
        if identity["revoked"] == true { return phrase(.cut) }
        return verdict == "nothing_to_revoke"
            ? phrase(.nothingToRevoke) : "<span class=\"no\">\(phrase(.notCut))</span>"
    }

    // MARK: Stores

    private var erased: String {
        var rows: [[String]] = []
        for store in items("stores") {
            let isExamined = places("unexamined", in: store).isEmpty
            let parts = isSearchedInPart(store) ? [ReceiptPhrase.notSearched] : []
            for part in parts + (isExamined ? [] : [.notExamined]) {
                rows.append([
                    field("store", of: store),
                    "<span class=\"no\">\(phrase(part, place(of: store, part)))</span>",
                    "", "", part == .notSearched ? phrase(.notVerified) : "",
                ])
            }
            for entry in array(store["tables"]) {
                guard let action = self.action(of: entry).flatMap({ Self.actions[$0] }) else {
                    continue
                }
                let when =
                    store["verified"] == true
                    ? time(store["verified_at"])
                    : "<span class=\"no\">\(phrase(.notVerified))</span>"
                let count = field("rows", of: entry)
                let isAtLeast = store["counts"] == "at_least"
                rows.append([
                    field("store", of: store), field("table", of: entry), phrase(action),
                    isAtLeast ? phrase(.atLeast, count) : count, when,
                ])
            }
        }
        guard !rows.isEmpty else { return "" }
        return section(.erased)
            + table([.store, .content, .action, .count, .verified], rows, counts: 3)
    }

    private static let actions: [PurgeCounts.Action.Code: ReceiptPhrase] = [
        .delete: .deleted, .anonymize: .anonymized, .accepted: .acceptedLater,
    ]

    private func action(of entry: JSONValue) -> PurgeCounts.Action.Code? {
        entry["action"]?.string.flatMap(PurgeCounts.Action.Code.init(rawValue:))
    }

    private var notErased: [JSONValue] { items("not_erased") }

    private var kept: String {
        guard receipt["kind"] != "revoke_tokens" else { return "" }
        let rows = notErased.map { item in
            let columns = array(item["columns"]).map(text).joined(separator: ", ")
            let content = field("table", of: item) + (columns.isEmpty ? "" : " (\(columns))")
            return [field("store", of: item), content, field("rows", of: item), reason(item)]
        }
        let body =
            rows.isEmpty
            ? "<p>\(phrase(.nothingKept))</p>\n"
            : table([.store, .content, .count, .why], rows, counts: 2)
        return section(.kept) + body
    }

    /// The reasons of the service in the page's language; those of the configuration as they are.
    private func reason(_ item: JSONValue) -> String {
        let id = item["phrase"]?.string ?? ""
        if let known = ReceiptSentence(rawValue: id) {
            return Self.escaped(known.text(in: language))
        }
        switch PlanItem.Action(rawValue: id) {
        case .keep: return field("name", of: item)
        case .anonymize: return phrase(.anonymized) + ": " + field("name", of: item)
        case .delete, nil: return field("reason", of: item)
        }
    }

    /// A sentence of the service in the page's language; one of the operator's program as it is.
    private func what(_ copy: JSONValue) -> String {
        copy["phrase"]?.string
            .flatMap { ReceiptTexts.copy($0, copy["name"]?.string, in: language) }
            .map(Self.escaped) ?? field("what", of: copy)
    }

    private var copies: String {
        let rows = items("stores").map { store in
            let own = array(store["residual_copies"]).map { copy in
                what(copy)
                    + (copy["until"].map { " (\(phrase(.until, time($0))))" } ?? "")
            }
            return [
                field("store", of: store),
                store["backups_kept_until"].map { phrase(.until, time($0)) } ?? "–",
                own.isEmpty ? phrase(.noCopies) : own.joined(separator: "<br>"),
                store["erasure_horizon"].map { time($0) } ?? phrase(.unknown),
            ]
        }
        guard !rows.isEmpty else { return "" }
        return section(.copies) + table([.store, .backups, .storeCopies, .allCopiesGone], rows)
    }

    private var recipients: String {
        let rows = items("recipients").map { recipient in
            ["name", "contact", "purpose"].map { field($0, of: recipient) }
        }
        guard !rows.isEmpty else { return "" }
        return section(.recipients) + table([.recipient, .contact, .purpose], rows)
    }

    // MARK: Afterwards

    private var rechecks: String {
        guard receipt["rechecks"] != nil else { return "" }
        let rows = items("rechecks").map { recheck -> [String] in
            let outcome = field("outcome", of: recheck)
            let found = array(recheck["found"]).map {
                "\(field("store", of: $0)): \(field("rows", of: $0))"
            }
            let text = Self.outcomes[outcome].map { phrase($0) } ?? outcome
            return [
                time(recheck["at"]),
                ([outcome == "returned" ? "<span class=\"no\">\(text)</span>" : text] + found)
                    .joined(separator: "<br>"),
            ]
        }
        let next = receipt["next_recheck_at"].map { phrase(.nextRecheck, time($0)) }
        return section(.rechecks) + (rows.isEmpty ? "" : table([.date, .outcome], rows))
            + "<p>\(next ?? phrase(.noRecheck))</p>\n" + later
    }

    private static let outcomes: [String: ReceiptPhrase] = [
        "clean": .clean, "returned": .returned, "unverified": .unverified,
        "unreadable": .unreadable, "abandoned": .ended,
    ]

    /// What became known of verdicts later; they stay as they are.
    private var later: String {
        let refused = ReceiptSentence.credentialRefused
        let rows = items("addenda").map { addendum -> [String] in
            let isRefused = addendum["event"]?.string == refused.rawValue
            let sentence = isRefused ? refused : .linkCut
            return [
                field("provider", of: addendum), Self.escaped(sentence.text(in: language)),
                time(addendum["occurred_at"]),
            ]
        }
        guard !rows.isEmpty else { return "" }
        return section(.later) + "<p>\(phrase(.laterIntroduction))</p>\n"
            + table([.service, .result, .date], rows)
    }

    private var decisions: String {
        var lines: [String] = []
        if let approval = receipt["approval"] {
            let uid = field("uid", of: approval)
            lines.append(phrase(.approvedBy, uid) + " " + time(approval["at"]))
        }
        let notes: [(ReceiptPhrase, String)] = [
            (.abandonedBy, "abandoned"), (.rechecksEndedBy, "rechecks_abandoned"),
        ]
        for (name, member) in notes {
            guard let note = receipt[member] else { continue }
            lines.append(phrase(name, field("uid", of: note)) + " " + field("reason", of: note))
        }
        for identity in items("forgotten") {
            lines.append(
                phrase(.forgottenBy, field("uid", of: identity)) + " "
                    + field("provider", of: identity)
            )
        }
        guard !lines.isEmpty else { return "" }
        return section(.decisions) + lines.map { "<p class=\"no\">\($0)</p>\n" }.joined()
    }

    private var scope: String {
        let lines = items("not_in_scope").map { line -> String in
            let isOwn = language != .english
            let known = ReceiptPhrase.scope.first {
                isOwn && JSONValue.string($0.text(in: .english)) == line
            }
            return "<li>\(known.map { phrase($0) } ?? late(line) ?? text(line))</li>"
        }
        guard !lines.isEmpty else { return "" }
        return section(.notCovered) + "<ul>\n\(lines.joined(separator: "\n"))\n</ul>\n"
    }

    private func late(_ line: JSONValue) -> String? {
        let halves = ReceiptPhrase.scopeLate.text(in: .english).split(separator: "%")
        guard let text = line.string, halves.count == 2, text.hasPrefix(halves[0]),
            text.hasSuffix(halves[1])
        else { return nil }
        let name = text.dropFirst(halves[0].count).dropLast(halves[1].count)
        return phrase(.scopeLate, Self.escaped(String(name)))
    }

    /// With the whole receipt, so that a program can check the page alone.
    private var verification: String {
        guard let ledger = receipt["ledger"] else { return "" }
        let rows = array(ledger["entries"]).map {
            "<tr><td>\(field("index", of: $0))</td><td>\(field("entry", of: $0))</td></tr>"
        }
        let data = Self.escaped(String(decoding: receipt.canonicalBytes, as: UTF8.self))
        return "<section class=\"verification\">\n" + section(.verification)
            + "<p>\(phrase(.verificationHow))</p>\n<pre>\(field("key", of: ledger))</pre>\n"
            + "<pre>\(field("checkpoint", of: ledger))</pre>\n"
            + "<table class=\"proof\">\n<caption>\(phrase(.entries))</caption>\n"
            + rows.joined(separator: "\n") + "\n</table>\n<details><summary>\(phrase(.data))"
            + "</summary><pre class=\"data\">\(data)</pre></details>\n</section>\n"
    }
}

extension ReceiptPage {
    private func phrase(_ phrase: ReceiptPhrase, _ value: String? = nil) -> String {
        let text = Self.escaped(phrase.text(in: language))
        return value.map { text.replacing("%", with: $0) } ?? text
    }

    private func section(_ title: ReceiptPhrase) -> String { "<h2>\(phrase(title))</h2>\n" }

    /// Cells are HTML already, and the first names its row.
    private func table(_ head: [ReceiptPhrase], _ rows: [[String]], counts: Int? = nil) -> String {
        // A column that is empty everywhere says nothing.
        let shown = head.indices.filter { index in rows.contains { !$0[index].isEmpty } }
        func style(_ index: Int) -> String { index == counts ? " class=\"count\"" : "" }
        let top = shown.map { "<th scope=\"col\"\(style($0))>\(phrase(head[$0]))</th>" }.joined()
        let body = rows.map { row in
            let cells = shown.map { index in
                let tag = index == 0 ? "th scope=\"row\"" : "td"
                let label = row[index].isEmpty ? "" : " data-label=\"\(phrase(head[index]))\""
                return "<\(tag)\(style(index))\(label)>\(row[index])</\(tag.prefix(2))>"
            }
            return "<tr>\(cells.joined())</tr>"
        }
        return """
            <table class="wide">
            <thead><tr>\(top)</tr></thead>
            <tbody>
            \(body.joined(separator: "\n"))
            </tbody>
            </table>

            """
    }

    private func items(_ name: String) -> [JSONValue] { array(receipt[name]) }

    private func array(_ value: JSONValue?) -> [JSONValue] { value?.array ?? [] }

    private func field(_ name: String, of value: JSONValue) -> String {
        value[name].map(text) ?? ""
    }

    /// What a value says, harmless in HTML.
    private func text(_ value: JSONValue) -> String {
        switch value {
        case .string(let text): Self.escaped(text)
        case .integer(let number): "\(number)"
        case .bool, .null, .number, .array, .object: ""
        }
    }

    /// A time of the receipt in the zone of the process (tzset(3)).
    private func time(_ value: JSONValue?) -> String {
        guard case .string(let text)? = value else { return "" }
        return WallTime(rfc3339: text).map(LocalTime.full) ?? Self.escaped(text)
    }

    static func escaped(_ text: String) -> String { HTMLText.escaped(text) }
}
