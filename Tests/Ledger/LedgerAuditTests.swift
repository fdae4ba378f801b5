import Glibc
import Ledger
import Testing

@Suite("Verifying a ledger of a thousand records")
struct LedgerAuditTests {
    private let ledger: SignedLedger

    /// Tries every bit, for a quarter of an hour in a debug build, where `EXPUNGED_EVERY_BIT` is
    /// `0/1`; with `2/6` the third sixth of all bits.
    private let share = Self.share(
        unsafe getenv("EXPUNGED_EVERY_BIT").map { unsafe String(cString: $0) }
    )

    private static func share(_ text: String?) -> (part: Int, parts: Int)? {
        let numbers = text?.split(separator: "/").compactMap { Int($0) } ?? []
        guard numbers.count == 2, (0..<numbers[1]).contains(numbers[0]) else { return nil }
        return (numbers[0], numbers[1])
    }

    init() throws { ledger = try SignedLedger() }

    @Test("what was signed verifies, and all of it is covered")
    func sound() {
        let audit = LedgerAudit.compare(
            entries: SignedLedger.text(ledger.leaves),
            notes: ledger.notes.flatMap { $0 },
            key: ledger.key
        )
        #expect(audit.findings == [])
        #expect(audit.covered?.size == SignedLedger.count)
        #expect(audit.checkpointCount == SignedLedger.count / SignedLedger.step)
    }

    /// Every byte of every leaf, one bit of it; the next checkpoint must notice.
    @Test("a flipped bit in any leaf is found")
    func leafBits() {
        var audit = LedgerAudit(key: ledger.key)
        var (missed, tried) = (0, 0)
        let bits = ledger.leaves.reduce(0) { $0 + $1.count * 8 }
        var notes = ledger.notes.map { Array($0.dropLast()) }[...]
        for start in stride(from: 0, to: SignedLedger.count, by: SignedLedger.step) {
            for note in notes.prefix(2) { _ = audit.take(note) }
            notes = notes.dropFirst(2)
            let block = ledger.leaves[start..<start + SignedLedger.step]
            for (offset, leaf) in block.enumerated() {
                // The cost of a try is what follows in the block: every bit of the last leaf, and
                // ever fewer before it.
                let spacing = SignedLedger.step - offset
                let (first, step) = share ?? (offset, spacing * 2 - 1)
                for position in stride(from: first, to: leaf.count * 8, by: step) {
                    var changed = leaf
                    changed[position / 8] ^= 1 << (position % 8)
                    var copy = audit
                    copy.add(leaf: changed)
                    for later in block.dropFirst(offset + 1) { copy.add(leaf: later) }
                    copy.settle()
                    tried += 1
                    if copy.findingCount == 0 { missed += 1 }
                }
                audit.add(leaf: leaf)
            }
            audit.settle()
        }
        #expect(missed == 0)
        #expect(tried > 60_000)
        Swift.print("bench: \(tried) of \(bits) bits of leaves, \(missed) missed")
        #expect(audit.findingCount == 0)
    }

    @Test(
        "an old copy of the state explains what follows its last checkpoint, and no other damage",
        arguments: [nil, 3]
    )
    func rollback(changed: Int?) {
        let kept = SignedLedger.step * 4
        var audit = LedgerAudit(key: ledger.key, rolledBackTo: kept)
        var notes = ledger.notes.map { Array($0.dropLast()) }[...]
        for start in stride(from: 0, to: SignedLedger.count, by: SignedLedger.step) {
            for note in notes.prefix(2) { _ = audit.take(note) }
            notes = notes.dropFirst(2)
            // The others are in no leaf of the copy.
            for index in (start..<start + SignedLedger.step) where index < kept {
                audit.add(leaf: index == changed ? [0] : ledger.leaves[index])
            }
            audit.settle()
        }
        audit.finish(rest: [])
        #expect(audit.findings.contains { $0.kind == .missingLeaves })
        #expect((audit.unexplainedCount > 0) == (changed != nil))
    }

    @Test("a flipped bit in any note is found", arguments: 0..<40)
    func noteBits(number: Int) {
        guard share != nil || [0, 1, 20, 39].contains(number) else { return }
        let file = ledger.notes.flatMap { $0 }
        let start = ledger.notes[..<number].reduce(0) { $0 + $1.count }
        let before = ledger.notes[..<number].flatMap { $0 }
        let length = ledger.notes[number].count
        var missed = 0
        // Tombstones are long: every eleventh bit of them, every bit of a checkpoint.
        let (first, step) = share ?? (0, number.isMultiple(of: 2) ? 11 : 1)
        for position in stride(from: first, to: length * 8, by: step) {
            var changed = Array(file[start..<start + length])
            changed[position / 8] ^= 1 << (position % 8)
            var splitter = NoteSplitter()
            var audit = LedgerAudit(key: ledger.key)
            let notes = splitter.take(changed)
            let isWhole = splitter.rest.isEmpty && notes.count == 1
            // A note that is cut otherwise than it was never has the signature under its text.
            for note in notes { _ = audit.take(note) }
            if isWhole, audit.findingCount == 0 { missed += 1 }
            if !isWhole {
                let all = before + changed + file[(start + length)...]
                let whole = LedgerAudit.compare(entries: [], notes: all, key: ledger.key)
                if !whole.findings.contains(where: { $0.kind == .badNote || $0.kind == .tornFile })
                {
                    missed += 1
                }
            }
        }
        #expect(missed == 0)
        if share != nil {
            let tried = (length * 8 - first + step - 1) / step
            Swift.print("bench: \(tried) of \(length * 8) bits of note \(number), \(missed) missed")
        }
    }

    @Test("a removed leaf is found, wherever it was", arguments: [0, 1, 499, 998, 999])
    func removedLeaf(index: Int) {
        var leaves = ledger.leaves
        leaves.remove(at: index)
        #expect(ledger.findings(leaves: leaves) > 0)
    }

    @Test("two leaves that changed places are found", arguments: [(0, 1), (48, 49), (998, 999)])
    func swappedLeaves(first: Int, second: Int) {
        var leaves = ledger.leaves
        leaves.swapAt(first, second)
        #expect(ledger.findings(leaves: leaves) > 0)
    }

    @Test(
        "a cut end and an old copy are found as missing leaves",
        arguments: [1, 2, 50, 999, 1000]
    )
    func cutLeaves(count: Int) {
        let audit = LedgerAudit.compare(
            entries: SignedLedger.text(ledger.leaves.dropLast(count)),
            notes: ledger.notes.flatMap { $0 },
            key: ledger.key
        )
        #expect(audit.findings.contains { $0.kind == .missingLeaves })
    }

    @Test("an added leaf before the last checkpoint is found")
    func addedLeaf() {
        var leaves = ledger.leaves
        leaves.insert(leaves[3], at: 3)
        #expect(ledger.findings(leaves: leaves) > 0)
    }

    @Test("notes that changed places, and a file that ends within a note, are found")
    func notes() {
        var notes = ledger.notes
        notes.swapAt(1, 3)
        #expect(ledger.findings(notes: notes) > 0)
        for count in 1..<ledger.notes[39].count {
            let cut = ledger.notes.dropLast() + [Array(ledger.notes[39].dropLast(count))]
            guard count % 17 == 1 else { continue }
            #expect(ledger.findings(notes: Array(cut)) > 0)
        }
    }

    @Test(
        "a file that was cut after any whole note is found, unless it is said to be earlier",
        arguments: 0..<40
    )
    func cutNotes(count: Int) {
        let notes = ledger.notes.prefix(count).flatMap { $0 }
        let entries = SignedLedger.text(ledger.leaves)
        let audit = LedgerAudit.compare(entries: entries, notes: notes, key: ledger.key)
        #expect(audit.findings.contains { $0.kind == .unsignedEntries })
        // Tombstones of a checkpoint that is gone are true of the entries, too.
        let earlier = LedgerAudit.compare(
            entries: entries,
            notes: notes,
            key: ledger.key,
            isEarlier: true
        )
        #expect(earlier.findings == [])
    }

    @Test("another key's checkpoints are not believed")
    func otherKey() throws {
        let other = try SignedLedger(key: .other())
        let audit = LedgerAudit.compare(
            entries: SignedLedger.text(ledger.leaves),
            notes: other.notes.flatMap { $0 },
            key: ledger.key
        )
        #expect(audit.findings.filter { $0.kind == .badNote }.count == other.notes.count)
    }
}
