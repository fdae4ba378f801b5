import Ledger
import Lifecycle
import Storage

extension LedgerKeeper {
    struct Verdict: Sendable {
        let audit: LedgerAudit
        let uncovered: Int
    }

    /// Compares every leaf, every note of the file and every stored hash.
    func verify() async throws -> Verdict {
        await turns.enter()
        defer { turns.leave() }
        let reader = LeafReader(state: state)
        var keptSize: Int?
        if case .rolledBack = health { keptSize = try await state.lastCheckpoint()?.size ?? 0 }
        var audit = LedgerAudit(key: key, rolledBackTo: keptSize)
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

    /// How many entries an export holds: what a checkpoint covers, or all of them.
    ///
    /// An export that begins at 0 signs everything first. So an entry without a signature in a
    /// later copy of the file shows that its signature was taken away.
    func sizeToExport(from index: Int) async throws -> Int {
        if index == 0 { try await checkpoint() }
        guard health == .sound, let last else { return state.ledgerSize }
        return last.checkpoint.size
    }
}

/// The notes that the state knows, in order, a page at a time: years have millions.
private final class NoteReader {
    private let state: StateDatabase
    private var position: Int
    private var page: ArraySlice<StoredCheckpoint> = []
    private var isAtEnd = false

    /// Begins after `position`.
    init(state: StateDatabase, position: Int) {
        self.state = state
        self.position = position
    }

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
