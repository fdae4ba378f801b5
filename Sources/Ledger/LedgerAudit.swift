/// Compares every leaf of a ledger with every note of its checkpoint file.
///
/// Notes are taken in the order of the file; each says up to which leaf it speaks, and is settled
/// once those leaves have been added. So neither the ledger nor the file need fit into memory.
package struct LedgerAudit: Sendable {
    /// What can be wrong.
    package enum Kind: String, Sendable, CaseIterable {
        /// A note does not parse, or its signature is not the key's.
        case badNote = "bad_note"
        /// A checkpoint or a tombstone stands before an older one.
        case noteOrder = "note_order"
        /// A checkpoint has a root that the leaves do not give: one was edited, removed or moved.
        case rootMismatch = "root_mismatch"
        /// A checkpoint speaks of leaves that are not there: the end was cut, or the copy is old.
        case missingLeaves = "missing_leaves"
        /// A leaf that left the machine as a tombstone is another one here.
        case tombstoneMismatch = "tombstone_mismatch"
        /// The file ends within a note.
        case tornFile = "torn_file"
        /// A checkpoint that state.db knows is not in the file.
        case missingNote = "missing_note"
        /// Entries of an export that no checkpoint covers: the file was cut after a whole note, or
        /// is an earlier copy.
        case unsignedEntries = "unsigned_entries"
        /// The rows of the ledger do not follow one another.
        case brokenRows = "broken_rows"
        /// A stored hash of the tree is not the one that the leaves give.
        case badNode = "bad_node"
        /// What state.db stores about a checkpoint is missing, or not what the file has.
        case badCheckpointRow = "bad_checkpoint_row"
    }

    /// One thing that is wrong, and where.
    package struct Finding: Hashable, Sendable {
        package let kind: Kind
        /// The leaf's index or the ledger's size that the finding is about; the note's place in the
        /// file, from 0, for a bad note.
        package let position: Int
    }

    /// What follows the last checkpoint of an old copy is missing, or was written since.
    private static let laterKinds: Set<Kind> = [
        .missingLeaves, .rootMismatch, .badCheckpointRow, .tombstoneMismatch,
    ]
    /// More are counted and not kept.
    package static let findingsMax = 100

    package let key: NoteKey
    package private(set) var frontier = MerkleFrontier()
    package private(set) var findings: [Finding] = []
    package private(set) var findingCount = 0
    /// Findings that an old copy of the state does not explain; all of them where it is none.
    package private(set) var unexplainedCount = 0
    package private(set) var checkpointCount = 0
    /// The last checkpoint that the leaves agree with.
    package private(set) var covered: Checkpoint?

    private let keptSize: Int?
    private var noteCount = 0
    private var lastCheckpoint: Checkpoint?
    private var open: Checkpoint?
    private var tombstones: [TombstoneNote.Line] = []
    private var lastTombstone = -1

    /// `keptSize` is the size at the last checkpoint that an old copy of the state knows.
    package init(key: NoteKey, rolledBackTo keptSize: Int? = nil) {
        (self.key, self.keptSize) = (key, keptSize)
    }

    /// Takes the next note of the file, and returns how many leaves must have been added before
    /// ``settle()``; `nil` when nothing is to be settled.
    package mutating func take(_ note: [UInt8]) -> Int? {
        defer { noteCount += 1 }
        guard let text = String(validating: note, as: UTF8.self), let signed = SignedNote(text),
            key.isSigner(of: signed)
        else {
            add(.badNote, noteCount)
            return nil
        }
        if let checkpoint = Checkpoint(text: signed.text), checkpoint.origin == key.name {
            return take(checkpoint)
        }
        guard let note = TombstoneNote(text: signed.text, origin: key.name) else {
            add(.badNote, noteCount)
            return nil
        }
        for line in note.lines {
            if line.index <= lastTombstone || line.index < frontier.size {
                add(.noteOrder, line.index)
            } else {
                lastTombstone = line.index
                tombstones.append(line)
            }
        }
        return nil
    }

    private mutating func take(_ checkpoint: Checkpoint) -> Int? {
        checkpointCount += 1
        if let last = lastCheckpoint,
            checkpoint.size < last.size || checkpoint.time < last.time
                || checkpoint.size == last.size && checkpoint.root != last.root
        {
            add(.noteOrder, checkpoint.size)
        }
        lastCheckpoint = checkpoint
        guard checkpoint.size >= frontier.size else { return nil }
        open = checkpoint
        return checkpoint.size
    }

    /// Adds the next leaf, and returns the subtrees that are complete with it.
    @discardableResult
    package mutating func add(leaf: [UInt8]) -> [MerkleFrontier.Subtree] {
        if let first = tombstones.first, first.index == frontier.size {
            tombstones.removeFirst()
            if !first.leaf.utf8.elementsEqual(leaf) { add(.tombstoneMismatch, first.index) }
        }
        return frontier.append(MerkleHash.leaf(leaf))
    }

    /// Compares the checkpoint that was taken last with the leaves up to it.
    package mutating func settle() {
        guard let checkpoint = open else { return }
        open = nil
        if frontier.size < checkpoint.size {
            add(.missingLeaves, checkpoint.size)
        } else if frontier.root() != checkpoint.root {
            add(.rootMismatch, checkpoint.size)
        } else {
            covered = checkpoint
        }
    }

    /// Ends the comparison, with what the file has after its last whole note.
    package mutating func finish(rest: [UInt8]) {
        settle()
        if !rest.isEmpty { add(.tornFile, noteCount) }
        for line in tombstones { add(.tombstoneMismatch, line.index) }
        tombstones = []
    }

    package mutating func add(_ kind: Kind, _ position: Int) {
        findingCount += 1
        // A tombstone names the index of its leaf, all others a size.
        let size = kind == .tombstoneMismatch ? position + 1 : position
        let isLater = keptSize.map { $0 < size } ?? false
        if !isLater || !Self.laterKinds.contains(kind) { unexplainedCount += 1 }
        if findings.count < Self.findingsMax {
            findings.append(Finding(kind: kind, position: position))
        }
    }
}

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

/// Cuts the bytes of a checkpoint file into its notes.
///
/// The file is notes, each with a newline after it. No text of ours has an empty line, so a note is
/// what lies between every second pair of newlines. What is left over at the end of the file was
/// torn while it was written, or cut.
package struct NoteSplitter: Sendable {
    /// Bytes that do not make a whole note yet.
    package private(set) var rest: [UInt8] = []

    package init() {}

    /// Takes the next bytes, and returns the notes that are whole with them, without the newline
    /// between two.
    package mutating func take(_ bytes: [UInt8]) -> [[UInt8]] {
        rest += bytes
        var notes: [[UInt8]] = []
        var start = 0
        var gapCount = 0
        var index = 1
        while index < rest.count {
            if rest[index] == Self.newline, rest[index - 1] == Self.newline {
                gapCount += 1
                if gapCount == 2 {
                    notes.append(Array(rest[start..<index]))
                    start = index + 1
                    gapCount = 0
                    index = start - 1
                }
                index += 1
            }
            index += 1
        }
        rest.removeFirst(start)
        return notes
    }

    private static let newline = UInt8(ascii: "\n")
}
