extension LedgerAudit {
    /// Compares an export with a checkpoint file.
    ///
    /// - Parameters:
    ///   - entries: One leaf a line, each with a newline after it.
    ///   - notes: The bytes of the checkpoint file.
    ///   - key: The key that signed.
    ///   - isEarlier: Whether the file is older than the export: then nothing is known of entries
    ///     behind its last checkpoint. Else an export holds none.
    /// - Returns: The finished audit.
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
