import Ledger
import Lifecycle
import Storage

extension LedgerKeeper {
    /// What a full comparison found.
    struct Verdict: Sendable {
        let audit: LedgerAudit
        /// Leaves that no checkpoint covers yet.
        let uncovered: Int
    }

    /// Compares every leaf, every note of the file and every stored hash.
    ///
    /// - Throws: The store's error, or ``DaemonError`` for a file that cannot be read.
    func verify() async throws -> Verdict {
        await enter()
        defer { leave() }
        let reader = LeafReader(state: state)
        var audit = LedgerAudit(key: key)
        let known = NoteReader(state: state, position: try await acceptedID())
        let rest = try await file.read(from: 0) { note, end in
            if let checkpoint = Self.checkpoint(note) {
                try await known.compare(note, checkpoint, endsAt: end, &audit)
            }
            guard let size = audit.take(note) else { return }
            try await reader.feed(&audit, until: size)
            audit.settle()
        }
        try await reader.feed(&audit, until: .max)
        audit.finish(rest: rest)
        while let row = try await known.next() {
            known.pass()
            audit.add(.missingNote, row.size)
        }
        try await reader.checkNodes(&audit)
        return Verdict(audit: audit, uncovered: audit.frontier.size - (audit.covered?.size ?? 0))
    }

    private static func checkpoint(_ note: [UInt8]) -> Checkpoint? {
        String(validating: note, as: UTF8.self).flatMap { SignedNote($0) }
            .flatMap { Checkpoint(text: $0.text) }
    }

    /// How many entries an export holds: what a checkpoint covers, which at its begin is all of
    /// them, or else all that there are.
    ///
    /// So whoever takes a copy of the file after the export knows that an entry without a signature
    /// is one whose signature was taken away.
    ///
    /// - Throws: The store's error, or ``DaemonError`` for a file that cannot be written.
    func sizeToExport(from index: Int) async throws -> Int {
        if index == 0 { try await checkpoint() }
        guard health == .sound, let last else { return state.ledgerSize }
        return last.checkpoint.size
    }
}

/// Goes through the notes that the state knows, in order, some at a time: years have millions.
private final class NoteReader {
    private let state: StateDatabase
    private var position: Int
    private var page: ArraySlice<StoredCheckpoint> = []
    private var isAtEnd = false

    /// - Parameters:
    ///   - state: The database.
    ///   - position: Behind which the first one is.
    init(state: StateDatabase, position: Int) {
        self.state = state
        self.position = position
    }

    /// The next one; the same until ``pass()``.
    func next() async throws -> StoredCheckpoint? {
        if page.isEmpty, !isAtEnd {
            let found = try await state.checkpoints(after: position, limit: 1000)
            if let last = found.last { position = last.id }
            page = found[...]
            isAtEnd = found.isEmpty
        }
        return page.first
    }

    func pass() { page.removeFirst() }

    /// Compares a checkpoint of the file with the row that should be next.
    func compare(
        _ note: [UInt8],
        _ checkpoint: Checkpoint,
        endsAt end: Int,
        _ audit: inout LedgerAudit
    ) async throws {
        while let row = try await next() {
            if row.endsAt < end, !note.elementsEqual(row.note.utf8) {
                audit.add(.missingNote, row.size)
                pass()
                continue
            }
            let isSame = note.elementsEqual(row.note.utf8)
            if !isSame || row.endsAt != end || row.size != checkpoint.size {
                audit.add(.badCheckpointRow, checkpoint.size)
            }
            // One that ends later belongs to a later note: this one has none.
            if isSame || row.endsAt == end { pass() }
            return
        }
        audit.add(.badCheckpointRow, checkpoint.size)
    }
}

/// Feeds an audit with the rows of the ledger, in order.
private final class LeafReader {
    private let state: StateDatabase
    private var rows: ArraySlice<LedgerRow> = []
    private var leaves: ArraySlice<[UInt8]> = []
    private var next = 0
    private var isAtEnd = false
    private var nodes: [MerkleFrontier.Subtree] = []

    init(state: StateDatabase) { self.state = state }

    func feed(_ audit: inout LedgerAudit, until size: Int) async throws {
        while audit.frontier.size < size {
            guard let leaf = leaves.popFirst() else {
                guard try await refill(&audit) else { return }
                continue
            }
            nodes += audit.add(leaf: leaf).filter(StateDatabase.keepsNode)
        }
    }

    /// - Returns: `false` at the end of the ledger.
    private func refill(_ audit: inout LedgerAudit) async throws -> Bool {
        if rows.isEmpty, !isAtEnd {
            rows = try await state.ledgerRows(from: next)[...]
        }
        guard let row = rows.popFirst() else {
            isAtEnd = true
            return false
        }
        if row.first != next || row.count != row.leaves.count { audit.add(.brokenRows, row.first) }
        next = row.first + row.count
        leaves = row.leaves[...]
        return true
    }

    /// Stored hashes must be those that the leaves give.
    func checkNodes(_ audit: inout LedgerAudit) async throws {
        let covered = audit.covered?.size ?? 0
        for node in nodes where (node.index + 1) << node.level <= covered {
            let stored = try await state.ledgerNode(level: node.level, position: node.index)
            if stored != node.hash { audit.add(.badNode, node.index << node.level) }
        }
    }
}
