extension LedgerAudit {
    /// Compares an export with a checkpoint file.
    ///
    /// An export has one leaf a line. A file that is earlier than the export says nothing of
    /// entries behind its last checkpoint.
    package static func compare(
        entries: [UInt8],
        notes: [UInt8],
        key: NoteKey,
        isEarlier: Bool = false
    ) -> LedgerAudit {
        var audit = LedgerAudit(key: key)
        var leaves = entries.split(separator: newline, omittingEmptySubsequences: false)[...]
        // What follows the last newline is no leaf; it must be nothing.
        if let tail = leaves.popLast(), !tail.isEmpty {
            audit.add(.brokenRows, leaves.count)
        }
        var splitter = NoteSplitter()
        for note in splitter.take(notes) {
            guard let size = audit.take(note) else { continue }
            while audit.frontier.size < size, let leaf = leaves.popFirst() {
                audit.add(leaf: Array(leaf))
            }
            audit.settle()
        }
        for leaf in leaves { audit.add(leaf: Array(leaf)) }
        audit.finish(rest: splitter.rest)
        let covered = audit.covered?.size ?? 0
        if covered < audit.frontier.size, !isEarlier { audit.add(.unsignedEntries, covered) }
        return audit
    }

    private static let newline = UInt8(ascii: "\n")
}
