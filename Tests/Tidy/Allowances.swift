/// The rules that are broken on purpose: `Tests/Tidy/allowed.txt`, one `RULE PATH REASON` per line.
struct Allowances: Sendable {
    struct Entry: Hashable, Sendable {
        let rule: String
        let path: String
        let reason: String
    }

    let entries: [Entry]
    /// Lines that cannot be read, from 1.
    let malformed: [Int]

    init(_ text: String) {
        var entries: [Entry] = []
        var malformed: [Int] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            let parts = line.split(separator: " ", maxSplits: 2).map(String.init)
            guard parts.count == 3, parts[2].count >= 10 else {
                malformed.append(index + 1)
                continue
            }
            entries.append(Entry(rule: parts[0], path: parts[1], reason: parts[2]))
        }
        self.entries = entries
        self.malformed = malformed
    }

    func allows(_ finding: Finding) -> Bool {
        entries.contains { $0.rule == finding.rule && $0.path == finding.path }
    }
}
