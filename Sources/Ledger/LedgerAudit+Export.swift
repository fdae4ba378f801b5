extension LedgerAudit {
    /// Compares an export with a checkpoint file.
    ///
    /// - Parameters:
    ///   - entries: One leaf a line, each with a newline after it.
    ///   - notes: The bytes of the checkpoint file.
    ///   - key: The key that signed.
    /// - Returns: The finished audit.
    package static func compare(
        entries: [UInt8],
        notes: [UInt8],
        key: NoteKey
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
        return audit
    }

    private static let newline = UInt8(ascii: "\n")
}
