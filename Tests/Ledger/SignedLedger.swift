import Ledger
import Lifecycle
import Testing
import Vault

/// A ledger of a thousand records as the service leaves it: entries, and the checkpoint file.
struct SignedLedger {
    static let count = 1000
    /// Leaves between two checkpoints.
    static let step = 50

    let key: NoteKey
    let leaves: [[UInt8]]
    /// Each with its newline.
    let notes: [[UInt8]]

    init(count: Int = SignedLedger.count, key secret: LedgerKey? = nil) throws {
        let secret = try secret ?? .example()
        let key = try #require(NoteKey(name: "expunged-test", publicKey: secret.publicKey))
        let sign: ([UInt8]) throws -> [UInt8] = { try secret.sign($0) }
        leaves = try (0..<count).map { try Self.leaf($0) }
        var notes: [SignedNote] = []
        var frontier = MerkleFrontier()
        var tombstones: [TombstoneNote.Line] = []
        for (index, leaf) in leaves.enumerated() {
            _ = frontier.append(MerkleHash.leaf(leaf))
            if index % 5 == 4 {
                tombstones.append(.init(index: index, leaf: String(decoding: leaf, as: UTF8.self)))
            }
            guard frontier.size % Self.step == 0 else { continue }
            notes.append(
                try key.note(TombstoneNote(origin: key.name, lines: tombstones).text, sign: sign)
            )
            tombstones = []
            let checkpoint = Checkpoint(
                origin: key.name,
                size: frontier.size,
                root: frontier.root(),
                time: WallTime(unixMilliseconds: 1_800_000_000_000 + Int64(index))
            )
            notes.append(try key.note(checkpoint.text, sign: sign))
        }
        self.key = key
        self.notes = notes.map { Array(($0.description + "\n").utf8) }
    }

    private static func leaf(_ index: Int) throws -> [UInt8] {
        let time = WallTime(unixMilliseconds: 1_800_000_000_000 + Int64(index))
        var generator = SeededGenerator(seed: UInt64(index / 5))
        let id = TimeOrderedID(at: time, entropy: &generator)
        if index % 10 == 9 {
            let hashes = [1, 2].map { Array(repeating: UInt8(index / 5 + $0), count: 32) }
            let keys = LedgerEntry(
                at: time,
                [.event: .word("erased_keys"), .keys: .hashes(hashes), .request: .id(id)]
            )
            return try #require(keys).bytes
        }
        let entry =
            index % 5 == 4
            ? LedgerEntry(
                at: time,
                [
                    .event: .word("erased"), .request: .id(id), .generation: .number(1),
                    .state: .word("completed"), .stores: .words(["app-db", "files"]),
                    .user: .hash(Array(repeating: UInt8(index & 255), count: 32)),
                ]
            )
            : LedgerEntry(
                at: time,
                [.event: .word("state"), .request: .id(id), .state: .word("revoking")]
            )
        return try #require(entry).bytes
    }

    static func text(_ leaves: some Sequence<[UInt8]>) -> [UInt8] {
        leaves.flatMap { $0 + [UInt8(ascii: "\n")] }
    }

    /// How many findings there are about other leaves or notes than the right ones.
    func findings(leaves: [[UInt8]]? = nil, notes: [[UInt8]]? = nil) -> Int {
        LedgerAudit.compare(
            entries: Self.text(leaves ?? self.leaves),
            notes: (notes ?? self.notes).flatMap { $0 },
            key: key
        ).findingCount
    }
}

extension LedgerKey {
    /// The secret key of the first test of RFC 8032 §7.1.
    static func example() throws -> LedgerKey {
        try LedgerKey(text: Secret("nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A="))
    }

    /// The secret key of the second test.
    static func other() throws -> LedgerKey {
        try LedgerKey(text: Secret("TM0Imyj/ltqdtsNG7BFOD1uKMZ81q6Yk2oz27U+4pvs="))
    }
}
