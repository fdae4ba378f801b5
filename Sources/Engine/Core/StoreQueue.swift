import DequeModule
import Lifecycle

/// The queue in front of one store: one call at a time, many requests in each.
struct StoreQueue: Sendable {
    enum Work: Hashable, Sendable { case purge, verify }

    struct Turn: Sendable {
        let requests: [RequestID]
        let gate: PurgeGate
        /// Holds that its orders know.
        let holds: KnownHolds
        let ticket: Ticket

        init(
            _ requests: [RequestID],
            _ gate: PurgeGate,
            _ holds: KnownHolds,
            _ ticket: Ticket
        ) {
            (self.requests, self.gate, self.holds) = (requests, gate, holds)
            self.ticket = ticket
        }
    }

    private var turns = Deque<Turn>()
    private var wasTurn = false
    private var purges = Deque<RequestID>()
    private var verifications = Deque<RequestID>()
    /// Since the last verification.
    private var purgesInRow = Self.purgesInRowMax
    private(set) var isBusy = false
    /// The purge under way, and what keeps its orders from beginning; `nil` when there is none.
    private(set) var purge: (requests: [RequestID], gate: PurgeGate)?
    private(set) var begunCount = 0
    var stuck = StuckDeletions()

    /// The purge of a run that is under way.
    var turn: (requests: [RequestID], gate: PurgeGate)? { wasTurn ? purge : nil }

    var waitingCount: Int { purges.count + verifications.count }

    mutating func enqueue(_ request: RequestID, _ work: Work) {
        switch work {
        case .purge: purges.append(request)
        case .verify: verifications.append(request)
        }
    }

    mutating func remove(_ requests: Set<RequestID>) {
        purges.removeAll { requests.contains($0) }
        verifications.removeAll { requests.contains($0) }
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

    /// A few batches of purges go before what is to be verified.
    ///
    /// A verification costs a session at a server, however many users it is about. It ends
    /// requests, and so frees the window.
    mutating func nextBatch() -> (Work, [RequestID])? {
        guard !isBusy else { return nil }
        let isVerification =
            !verifications.isEmpty
            && (purges.isEmpty || purgesInRow >= Self.purgesInRowMax
                || verifications.count >= Limits.purgeBatchMax)
        let work: Work = isVerification ? .verify : .purge
        let batch = take(work)
        guard !batch.isEmpty else { return nil }
        purgesInRow = isVerification ? 0 : purgesInRow + 1
        (isBusy, wasTurn) = (true, false)
        begunCount += 1
        if work == .purge { purge = (batch, PurgeGate()) }
        return (work, batch)
    }

    mutating func finished() {
        isBusy = false
        purge = nil
    }

    /// Batches that a user whose rows are gone waits for at most.
    private static let purgesInRowMax = 4

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

/// Requests that wait for their plan; few are made at once.
struct PlanQueue: Sendable {
    private var waiting = Deque<RequestID>()
    private(set) var underWay = 0

    mutating func enqueue(_ id: RequestID) { waiting.append(id) }

    mutating func next() -> RequestID? {
        guard underWay < Limits.plansAtOnce, let id = waiting.popFirst() else { return nil }
        underWay += 1
        return id
    }

    mutating func remove(_ requests: Set<RequestID>) {
        waiting.removeAll { requests.contains($0) }
    }

    mutating func finished() { underWay -= 1 }
}
