import Control
import Encoding
import Engine
import Ledger
import Lifecycle
import Logging
import Storage
import Vault

/// Builds the tree behind the writer, signs it, and compares it with what was signed before.
///
/// ```
/// commit ──▶ rows of `ledger` ──▶ tree ──▶ tombstones and checkpoint: file, fsync ──▶ state.db
/// start: last note of the file ──▶ the same leaves in state.db? ──▶ else nothing is destroyed
/// ```
/// While an old copy of the state is not accepted, nothing is signed.
actor LedgerKeeper {
    /// What was not signed can be taken away unnoticed.
    static let interval = Duration.seconds(10)
    /// Stored checkpoints that a start compares with the file.
    private static let rowsAtStart = 1000
    /// Half of what a note may have.
    private static let tombstoneByteCount = 32_768

    let state: StateDatabase
    let file: CheckpointFile
    let key: NoteKey
    private let signer: LedgerKey
    private let clock: any EngineClock
    private let logger: Logger

    private(set) var health = LedgerHealth.sound
    private(set) var last: (checkpoint: Checkpoint, note: String)?
    private(set) var failure: String?
    private var frontier = MerkleFrontier()
    private var nodes: [MerkleFrontier.Subtree] = []
    private var tombstones: [TombstoneNote.Line] = []
    private var fileEnd = 0
    /// One comparison, signature or acceptance at a time.
    let turns = AsyncLock()

    init(
        state: StateDatabase,
        directory: String,
        signer: LedgerKey,
        clock: any EngineClock,
        logger: Logger
    ) throws(DaemonError) {
        self.state = state
        self.signer = signer
        key = try Self.noteKey(of: signer)
        self.clock = clock
        self.logger = logger
        file = CheckpointFile(directory: directory)
    }

    static func noteKey(of signer: LedgerKey) throws(DaemonError) -> NoteKey {
        let digest = Array(MerkleHash.leaf(signer.publicKey).prefix(4))
        let name = "expunged-" + Hexadecimal.text(digest)
        guard let key = NoteKey(name: name, publicKey: signer.publicKey) else {
            throw DaemonError(.state, "cannot name the ledger's key")
        }
        return key
    }

    // MARK: Start

    /// Compares the state with the checkpoint file and loads the tree.
    ///
    /// Unless the result is `sound`, nothing may be destroyed.
    func start() async throws -> LedgerHealth {
        health = try await compare()
        if health == .sound, try await state.hasLostCommits() { health = .rolledBack(missing: 1) }
        // Which erasures were begun since the copy, and which of these ended, nobody can tell.
        if health != .sound { try await state.forgetBegunReplays() }
        try await takeUpTree()
        switch health {
        case .sound: break
        case .rolledBack(let missing):
            logger.note(.stateRolledBack, ["count": "\(missing)"])
        case .damaged(let kind): logger.note(.ledgerDamaged, ["detail": "\(kind.rawValue)"])
        }
        return health
    }

    private func compare() async throws -> LedgerHealth {
        let known = try await state.lastCheckpoint()
        var start = 0
        var found = LedgerHealth.sound
        if let known {
            if try file.ends(known.note, at: known.endsAt) {
                start = known.endsAt
                if let note = SignedNote(known.note) { adopt(note) }
            } else if try await !isAccepted(known) {
                found = .damaged(.missingNote)
            }
        }
        fileEnd = start
        var unknown: [(note: String, end: Int)] = []
        var isTorn = false
        let rest = try await file.read(from: start) { bytes, end in
            // No note has a zero byte: a power cut kept the length, and sectors before the end not.
            isTorn = isTorn || bytes.contains(0)
            guard !isTorn else { return }
            guard let text = String(validating: bytes, as: UTF8.self),
                let note = SignedNote(text), key.isSigner(of: note)
            else {
                if found == .sound { found = .damaged(.badNote) }
                return
            }
            if adopt(note) {
                fileEnd = end
                unknown.append((note.description, end))
            }
        }
        if found == .sound, let anchor = last?.checkpoint {
            let root = try await state.ledgerRoot(at: anchor.size)
            if root == nil {
                found = .rolledBack(missing: anchor.size - state.ledgerSize)
            } else if root != anchor.root {
                found = .damaged(.rootMismatch)
            }
        }
        if found == .sound { found = try await checkRows(unknown) }
        // An end that was torn by a crash, or tombstones without their checkpoint: they are written
        // again.
        if found == .sound { try file.cut(to: fileEnd) }
        if found == .sound, isTorn || !rest.isEmpty {
            logger.note(.ledgerRepaired, ["detail": "torn_note_cut_off"])
        }
        return found
    }

    // Compares the newest rows of the state with the file, and adds the one that a crash left out.
    private func checkRows(
        _ unknown: [(note: String, end: Int)]
    ) async throws -> LedgerHealth {
        let rows = try await state.checkpoints(
            after: try await acceptedID(),
            limit: Self.rowsAtStart,
            isNewestFirst: true
        )
        for (index, row) in rows.enumerated() {
            let note = SignedNote(row.note).flatMap { Checkpoint(text: $0.text) }
            let isNext = index == 0 || rows[index - 1].id == row.id + 1
            guard isNext, note?.size == row.size, try file.ends(row.note, at: row.endsAt) else {
                return .damaged(.badCheckpointRow)
            }
        }
        if rows.count < Self.rowsAtStart, let first = rows.last,
            first.id != (try await acceptedID()) + 1
        {
            return .damaged(.badCheckpointRow)
        }
        // Each row is stored before the next note is written.
        guard let last = unknown.first else { return .sound }
        guard unknown.count == 1, state.wasUncleanStop, let checkpoint = self.last?.checkpoint
        else {
            return .damaged(.badCheckpointRow)
        }
        if let root = try await state.ledgerRoot(at: checkpoint.size), root == checkpoint.root {
            logger.note(.ledgerRepaired, ["detail": "last_checkpoint_added"])
            try await state.saveCheckpoint(
                StoredCheckpoint(size: checkpoint.size, note: last.note, endsAt: last.end),
                nodes: []
            )
        }
        return .sound
    }

    @discardableResult
    private func adopt(_ note: SignedNote) -> Bool {
        guard let checkpoint = Checkpoint(text: note.text) else { return false }
        last = (checkpoint, note.description)
        return true
    }

    /// A checkpoint from before an accepted rollback is in a file that was set aside.
    private func isAccepted(_ known: StoredCheckpoint) async throws -> Bool {
        try await acceptedID() >= known.id
    }

    func acceptedID() async throws -> Int {
        Int(try await state.ownNote("ledger_accepted") ?? "0") ?? 0
    }

    private func takeUpTree() async throws {
        frontier = try await state.storedFrontier()
        nodes = []
        tombstones = []
        _ = try await grow()
        // What the last checkpoint covers has left the machine already.
        let covered = health == .sound ? last?.checkpoint.size ?? 0 : 0
        tombstones.removeAll { $0.index < covered }
    }

    /// Makes what waited for a sound ledger due, before the engine starts.
    func lift(at now: WallTime) async throws {
        guard health == .sound else {
            return try await state.setNote("ledger_restraint", to: "1")
        }
        guard try await state.note("ledger_restraint") == "1" else { return }
        _ = try await state.commit([.wake(parkedFor: .onHold, at: now)])
        try await state.setNote("ledger_restraint", to: "0")
    }

    // MARK: Checkpoints

    /// Signs while there is something new, until the task is cancelled.
    func run() async throws {
        for await _ in state.ledgerSignals {
            do {
                try await checkpoint()
            } catch let error as DaemonError {
                failure = "\(error)"
                logger.note(.checkpointFailed, ["error": "\(error)"])
            } catch let error as any StoreFailure where error.isRetryable {
                logger.debug("cannot store a checkpoint, trying again")
            }
            try await clock.sleep(until: clock.now() + Self.interval)
        }
    }

    /// Signs what was committed so far.
    func checkpoint() async throws {
        await turns.enter()
        defer { turns.leave() }
        guard health == .sound else { return }
        try await grow()
        guard frontier.size > last?.checkpoint.size ?? 0, try isFileKept() else { return }
        let time = max(clock.now(), last?.checkpoint.time ?? .distantPast)
        let checkpoint = Checkpoint(
            origin: key.name,
            size: frontier.size,
            root: frontier.root(),
            time: time
        )
        let note = try sign(checkpoint.text)
        try file.cut(to: fileEnd)
        let end = try file.append(try tombstoneNotes() + [note])
        try await state.saveCheckpoint(
            StoredCheckpoint(size: checkpoint.size, note: note.description, endsAt: end),
            nodes: nodes
        )
        fileEnd = end
        last = (checkpoint, note.description)
        (nodes, tombstones, failure) = ([], [], nil)
        report(checkpoint, note)
    }

    /// Whether the file still ends with what was written last.
    ///
    /// A note behind a cut end or an older copy would cover up who did it.
    private func isFileKept() throws -> Bool {
        guard let last, try !file.ends(last.note, at: fileEnd) else { return true }
        health = .damaged(.missingNote)
        logger.note(.ledgerDamaged, ["detail": "\(LedgerAudit.Kind.missingNote.rawValue)"])
        return false
    }

    private func report(_ checkpoint: Checkpoint, _ note: SignedNote) {
        let signature = note.signatures.first.map { Base64.text($0.keyID + $0.bytes) }
        let facts = [
            "\(checkpoint.size)", Base64.text(checkpoint.root), checkpoint.time.rfc3339,
            signature ?? "",
        ]
        logger.note(.ledgerCheckpoint, ["detail": "\(facts.joined(separator: " "))"])
    }

    private func sign(_ text: String) throws -> SignedNote {
        try key.note(text) { bytes throws(VaultError) in try signer.sign(bytes) }
    }

    private func tombstoneNotes() throws -> [SignedNote] {
        var notes: [SignedNote] = []
        var rest = tombstones[...]
        while !rest.isEmpty {
            var byteCount = 0
            let lines = rest.prefix { line in
                byteCount += line.leaf.utf8.count + 24
                return byteCount < Self.tombstoneByteCount || line == rest.first
            }
            notes.append(try sign(TombstoneNote(origin: key.name, lines: Array(lines)).text))
            rest = rest.dropFirst(lines.count)
        }
        return notes
    }

    /// How entries about erased users begin; reading each entry would cost more than its hash.
    private static let tombstoneStarts = ["erased", "erased_keys"].map { event in
        JSONWriter.object { $0.member("event", event) }.dropLast() + [UInt8(ascii: ",")]
    }

    private func grow() async throws {
        while frontier.size < state.ledgerSize {
            let rows = try await state.ledgerRows(from: frontier.size)
            guard !rows.isEmpty else { return }
            for row in rows {
                for leaf in row.leaves.dropFirst(max(0, frontier.size - row.first)) {
                    if Self.tombstoneStarts.contains(where: leaf.starts(with:)) {
                        tombstones.append(
                            .init(index: frontier.size, leaf: String(decoding: leaf, as: UTF8.self))
                        )
                    }
                    nodes += frontier.append(MerkleHash.leaf(leaf)).filter(StateDatabase.keepsNode)
                }
            }
        }
    }

    // MARK: An old copy

    /// Goes on with the state as it is; the old file is kept under another name.
    func accept(uid: UInt32) async throws {
        await turns.enter()
        defer { turns.leave() }
        let now = clock.now()
        let entry = LedgerEntry(
            at: now,
            [
                .event: .word("rollback_accepted"), .detail: .word(health.code),
                .count: .number(Int64(last?.checkpoint.size ?? 0)), .uid: .number(Int64(uid)),
            ]
        )
        if let entry { try await state.writeLedger(entry) }
        try file.setAside("\(now.unixMilliseconds)")
        let known = try await state.lastCheckpoint()
        try await state.setOwnNote("ledger_accepted", to: "\(known?.id ?? 0)")
        try await state.acceptLostCommits()
        (last, fileEnd, health) = (nil, 0, .sound)
        frontier = MerkleFrontier()
        try await takeUpTree()
        logger.note(.rollbackAccepted, ["operator.uid": "\(uid)"])
    }
}

/// How the ledger stands to its checkpoint file.
enum LedgerHealth: Hashable, Sendable {
    case sound
    /// `missing`: the least number of entries that the ledger lacks.
    case rolledBack(missing: Int)
    case damaged(LedgerAudit.Kind)

    var code: String {
        switch self {
        case .sound: "sound"
        case .rolledBack: "rolled_back"
        case .damaged: "damaged"
        }
    }

    var alarm: StatusAlarm? {
        switch self {
        case .sound: nil
        case .rolledBack: .stateRolledBack
        case .damaged: .ledgerDamaged
        }
    }
}
