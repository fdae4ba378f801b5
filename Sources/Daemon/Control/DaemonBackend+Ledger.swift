import Control
import Encoding
import Engine
import Ledger
import Lifecycle
import Logging
import Storage

extension DaemonBackend {
    /// Entries on one page: at most about half a megabyte.
    private static let ledgerPageMax = 1000

    func replay(caller: Caller) async throws(ControlProblem) -> WireReplay { parts.replay.progress }

    func startReplay(
        _ input: ReplayTerms,
        caller: Caller
    ) async throws(ControlProblem) -> WireReplay {
        try await requireSteward()
        try parts.replay.begin(input)
        audit("start_replay", caller, input.target.map { ["target": "\($0)"] } ?? [:])
        return parts.replay.progress
    }

    func ledger(caller: Caller) async throws(ControlProblem) -> WireLedger {
        let health = await parts.ledger.health
        var answer = WireLedger(
            key: parts.ledger.key.description,
            state: LedgerState(rawValue: health.code) ?? .damaged,
            entries: parts.state.ledgerSize
        )
        if let last = await parts.ledger.last {
            answer.covered = last.checkpoint.size
            answer.checkpoint = last.note
            answer.checkpointAt = last.checkpoint.time
        }
        return answer
    }

    func verifyLedger(caller: Caller) async throws(ControlProblem) -> WireLedger {
        let verdict = try await attempt("verify_ledger") { try await parts.ledger.verify() }
        let audit = verdict.audit
        var answer = WireLedger(
            key: audit.key.description,
            state: audit.findingCount == 0 ? .sound : .damaged,
            entries: audit.frontier.size
        )
        if audit.unexplainedCount > 0 {
            parts.logger.note(.ledgerDamaged, ["count": "\(audit.unexplainedCount)"])
        } else if case .rolledBack = await parts.ledger.health {
            answer.state = .known(.rolledBack)
        }
        answer.covered = audit.covered?.size ?? 0
        answer.checkpointAt = audit.covered?.time
        answer.checkpoints = audit.checkpointCount
        answer.findings = audit.findings.map {
            WireLedgerFinding(kind: $0.kind.rawValue, position: $0.position)
        }
        answer.findingCount = audit.findingCount
        self.audit("verify_ledger", caller, ["count": "\(audit.findingCount)"])
        return answer
    }

    func ledgerEntries(
        from index: Int,
        caller: Caller
    ) async throws(ControlProblem) -> WireLedgerEntries {
        let (rows, size) = try await attempt("ledger") {
            let size = try await parts.ledger.sizeToExport(from: index)
            return (try await parts.state.ledgerRows(from: index), size)
        }
        let countMax = max(0, min(Self.ledgerPageMax, size - index))
        var entries: [String] = []
        for row in rows where entries.count < countMax {
            let rest = row.leaves.dropFirst(max(0, index - row.first))
            entries += rest.prefix(countMax - entries.count).map {
                String(decoding: $0, as: UTF8.self)
            }
        }
        let next = index + entries.count
        return WireLedgerEntries(
            from: index,
            entries: entries,
            next: entries.isEmpty || next >= size ? nil : next
        )
    }

    func acceptRollback(caller: Caller) async throws(ControlProblem) -> WireLedger {
        let isBehind = parts.engine.inspect { $0.isClockBehind }
        let isSound = await parts.ledger.health == .sound
        guard !isSound || isBehind else {
            throw ControlProblem(.wrongState, "the ledger agrees with its checkpoints")
        }
        if isBehind {
            try await attempt("accept_rollback") { try await parts.clock?.forgive() }
            parts.engine.post(.clockFloor(.distantPast))
        }
        if !isSound {
            try await attempt("accept_rollback") { try await parts.ledger.accept(uid: caller.uid) }
            parts.engine.post(.restraintLifted)
        }
        await parts.engine.probe()
        audit("accept_rollback", caller)
        return try await ledger(caller: caller)
    }

    /// What a receipt says about its place in the ledger; `nil` while that is not signed.
    func ledgerPart(of id: RequestID) async throws(ControlProblem) -> JSONValue? {
        try await attempt("receipt") {
            let needed = try await parts.state.ledgerSize(covering: id)
            if await parts.ledger.last?.checkpoint.size ?? 0 < needed {
                try await parts.ledger.checkpoint()
            }
            guard needed > 0, let last = await parts.ledger.last, last.checkpoint.size >= needed
            else { return nil }
            let proofs = try await parts.state.ledgerProofs(of: id, in: last.checkpoint.size)
            return [
                "key": .string(parts.ledger.key.description), "checkpoint": .string(last.note),
                "entries": .array(proofs.map(Self.json)),
            ]
        }
    }

    private static func json(_ proof: LedgerProof) -> JSONValue {
        [
            "index": .integer(Int64(proof.index)),
            "entry": .string(String(decoding: proof.leaf, as: UTF8.self)),
            "proof": .array(proof.path.map { .string(Base64.text($0)) }),
        ]
    }
}
