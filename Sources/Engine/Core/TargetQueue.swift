import DequeModule
import Lifecycle

/// The queue in front of one target: one call at a time, many requests in each.
struct TargetQueue: Sendable {
    enum Work: Hashable, Sendable { case purge, verify }

    struct Turn: Sendable {
        let requests: [RequestID]
        let gate: PurgeGate
        let ticket: Ticket

        init(_ requests: [RequestID], _ gate: PurgeGate, _ ticket: Ticket) {
            (self.requests, self.gate, self.ticket) = (requests, gate, ticket)
        }
    }

    private var turns = Deque<Turn>()
    private var wasTurn = false
    private var purges = Deque<RequestID>()
    private var verifications = Deque<RequestID>()
    private(set) var isBusy = false
    /// The purge under way, and what keeps its orders from beginning; `nil` when there is none.
    private(set) var purge: (requests: [RequestID], gate: PurgeGate)?
    private(set) var begunCount = 0

    var waitingCount: Int { purges.count + verifications.count }

    mutating func enqueue(_ request: RequestID, _ work: Work) {
        switch work {
        case .purge: purges.append(request)
        case .verify: verifications.append(request)
        }
    }

    mutating func enqueue(_ turn: Turn) { turns.append(turn) }

    /// Turns and batches alternate, unless no batch may be taken (`isAlone`).
    mutating func nextTurn(isAlone: Bool) -> Turn? {
        guard !isBusy, !wasTurn || isAlone || waitingCount == 0, let turn = turns.popFirst() else {
            return nil
        }
        (isBusy, wasTurn) = (true, true)
        if !turn.requests.isEmpty { purge = (turn.requests, turn.gate) }
        return turn
    }

    /// Verifications go first: they end requests and so free the window.
    mutating func nextBatch() -> (Work, [RequestID])? {
        guard !isBusy else { return nil }
        let work: Work = verifications.isEmpty ? .purge : .verify
        let batch = take(work)
        guard !batch.isEmpty else { return nil }
        (isBusy, wasTurn) = (true, false)
        begunCount += 1
        if work == .purge { purge = (batch, PurgeGate()) }
        return (work, batch)
    }

    mutating func finished() {
        isBusy = false
        purge = nil
    }

    private mutating func take(_ work: Work) -> [RequestID] {
        var batch: [RequestID] = []
        while batch.count < Limits.purgeBatchMax,
            let id = work == .purge ? purges.popFirst() : verifications.popFirst()
        {
            batch.append(id)
        }
        return batch
    }
}
