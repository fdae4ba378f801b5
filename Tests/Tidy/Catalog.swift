/// The message ids of the code and of the journal's catalog, read as text: this suite builds alone.
struct Catalog {
    /// Message id by event, from the table in `JournalEvent`.
    let events: [(name: String, id: String)]
    /// The ids of the catalog and the subject of each.
    let entries: [(id: String, subject: String)]
    /// Lines of the catalog that are wider than 76 columns, from 1; `journalctl -x` indents the
    /// text.
    let wideLines: [Int]

    init(eventSource: String, catalog: String) {
        events = eventSource.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
            guard parts.count == 3, parts[1].count == 32, parts[1].allSatisfy(\.isHexDigit),
                let dot = parts[0].firstIndex(of: "."), let colon = parts[0].lastIndex(of: ":")
            else { return nil }
            return (String(parts[0][parts[0].index(after: dot)..<colon]), String(parts[1]))
        }
        var entries: [(id: String, subject: String)] = []
        var wideLines: [Int] = []
        for (index, line) in catalog.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            if line.count > 76, !line.hasPrefix("#") { wideLines.append(index + 1) }
            if line.hasPrefix("-- ") { entries.append((String(line.dropFirst(3)), "")) }
            if line.hasPrefix("Subject: "), !entries.isEmpty {
                entries[entries.count - 1].subject = String(line.dropFirst(9))
            }
        }
        self.entries = entries
        self.wideLines = wideLines
    }

    /// One sentence per disagreement; none when code and catalog say the same.
    var problems: [String] {
        var problems = wideLines.map { "catalog line \($0) is wider than 76 columns" }
        for event in events where !entries.contains(where: { $0.id == event.id }) {
            problems.append("\(event.name) has no catalog entry \(event.id)")
        }
        for entry in entries {
            if !events.contains(where: { $0.id == entry.id }) {
                problems.append("catalog entry \(entry.id) belongs to no event")
            }
            if entry.subject.isEmpty { problems.append("catalog entry \(entry.id) has no subject") }
        }
        for (what, ids) in [("events", events.map(\.id)), ("catalog", entries.map(\.id))] {
            if Set(ids).count != ids.count { problems.append("the \(what) use an id twice") }
        }
        return problems
    }
}
