import Engine
import Lifecycle
import Logging
import Providers
import Settings
import Storage
import Synchronization

/// Accepts requests, from the spool and from the control socket.
final class IntakeService: SpoolIntake {
    private let state: StateDatabase
    private let hasher: any KeyedHasher
    private let registry: AdapterRegistry
    private let credentials: CredentialService
    let signIns: SignInService
    /// Rows whose credentials could not be sealed: their users' requests wait.
    let unsealed: UnsealedRows
    private let generator: IdentifierGenerator
    private let now: @Sendable () -> WallTime
    private let clock: IntakeClock?
    /// Reads this host's spool to its end; `nil` where the engine that purges does so.
    private let readSpool: (@Sendable () async -> Void)?
    private let logger: Logger
    private let isPausedFlag = Mutex(false)
    private static let pauseNote = "intake_paused"
    private let pauseListener = Mutex(Listener())

    /// As in ``Signal``: a closure of its own inside a lock is wrapped once more by every read.
    private struct Listener: Sendable {
        var body: (@Sendable (Bool) -> Void)?
    }

    init(
        state: StateDatabase,
        hasher: any KeyedHasher,
        registry: AdapterRegistry,
        credentials: CredentialService,
        clock: IntakeClock? = nil,
        readSpool: (@Sendable () async -> Void)? = nil,
        logger: Logger
    ) {
        self.readSpool = readSpool
        self.clock = clock
        self.state = state
        self.hasher = hasher
        self.registry = registry
        self.credentials = credentials
        self.logger = logger
        signIns = SignInService(state: state, hasher: hasher, registry: registry)
        unsealed = UnsealedRows { [post = credentials.post] in post(.unsealed($0)) }
        generator = credentials.generator
        now = credentials.now
    }

    var isPaused: Bool { isPausedFlag.withLock { $0 } }

    /// Durable.
    func setPaused(_ isPaused: Bool) async throws {
        try await state.setNote(Self.pauseNote, to: isPaused ? "1" : "0")
        apply(isPaused)
    }

    /// Obeys a pause from before the restart, or what another host was told; call it once every
    /// listener is set.
    func restorePause() async throws {
        let isPaused = try await state.note(Self.pauseNote) == "1"
        // What was read before an operator's word is older than that.
        guard isPaused != self.isPaused,
            try await state.note(Self.pauseNote) == (isPaused ? "1" : "0")
        else { return }
        apply(isPaused)
        logger.note(isPaused ? .intakePaused : .intakeResumed)
    }

    private func apply(_ isPaused: Bool) {
        isPausedFlag.withLock { $0 = isPaused }
        pauseListener.withLock { $0 }.body?(isPaused)
    }

    func onPause(_ body: @escaping @Sendable (Bool) -> Void) {
        pauseListener.withLock { $0.body = body }
    }

    /// Accepts submissions durably and passes them to the engine; one outcome each, in order.
    ///
    /// Where another host may own the user, what this host's spool has of the user is read first:
    /// the owner knows nothing of the file.
    func accept(_ submissions: [Submission]) async throws -> [SubmissionOutcome] {
        if let readSpool, submissions.contains(where: { !$0.origin.isSpool }) { await readSpool() }
        let known = Set(registry.current.configuration.providers.map(\.name))
        let isKnown = submissions.map { $0.options.providers?.isSubset(of: known) ?? true }
        let taken = zip(submissions, isKnown).filter(\.1).map(\.0)
        let read = clock?.beginAdmission() ?? .latest
        var admitted: [LoadedRequest] = []
        defer { credentials.post(.admitted(admitted, by: read)) }
        let accepted = try await acceptDated(taken)
        admitted = tell(accepted, of: taken)
        var next = accepted.makeIterator()
        return isKnown.map {
            $0 ? next.next() ?? .rejected(.malformedRow) : .rejected(.unknownProvider)
        }
    }

    /// Accepts by one clock: again when it jumps before the commit has its time.
    private func acceptDated(_ submissions: [Submission]) async throws -> [SubmissionOutcome] {
        while !submissions.isEmpty {
            let stepCount = await clock?.settle() ?? 0
            let outcomes = try await state.accept(
                submissions.map { clock?.corrected($0) ?? $0 },
                policy: registry.current.intakePolicy,
                now: { [now, clock] in clock.map { $0.now(after: stepCount) } ?? now() },
                newID: { [generator] in generator.requestID() }
            )
            if let outcomes { return outcomes }
        }
        return []
    }

    private static func facts(
        _ reason: RejectReason,
        _ origin: SubmissionOrigin
    ) -> Logger.Metadata {
        var facts: Logger.Metadata = ["error": "\(reason.rawValue)"]
        if case .spool(let row) = origin {
            facts["detail"] = "row \(row.rowID)"
            if case .queue(let name) = row.source {
                facts["detail"] = "row \(row.rowID) of queue \(name)"
            }
        }
        return facts
    }

    private func tell(
        _ outcomes: [SubmissionOutcome],
        of submissions: [Submission]
    ) -> [LoadedRequest] {
        var admitted: [LoadedRequest] = []
        for (submission, outcome) in zip(submissions, outcomes) {
            switch outcome {
            case .accepted(var loaded, let absorbed):
                // The read of the file that brought it brought the credentials before it.
                if case .spool(let row) = submission.origin, row.source == .file {
                    loaded.isSpoolRead = true
                }
                admitted.append(loaded)
                logger.note(.requestAccepted, ["request.id": "\(loaded.request.id)"])
                for id in absorbed { credentials.post(.operate(id, .absorbed, Ticket(number: 0))) }
            case .rejected(let reason):
                logger.note(.requestRejected, Self.facts(reason, submission.origin))
            case .same, .unproven:
                break
            }
        }
        return admitted
    }

    /// Accepts one read of the spool: credentials first, so that a request sees its own.
    ///
    /// While the intake is paused, credentials are sealed and requests wait.
    func take(_ batch: SpoolBatch) async throws -> SpoolReceipts {
        let waiting = try await signIns.prove(batch.credentials, now: now())
        // An id token that could not be judged must stay readable.
        let sealed = try await Self.each(of: batch.credentials, elseWaits: .postponed) {
            $0.credential.kind != .idToken || !waiting.contains($0.userHash)
        } by: {
            try await storeCredentials($0)
        }
        // Before the requests: theirs wait.
        unsealed.note(batch.credentials, sealed)
        if unsealed.isEmpty { credentials.failures.clear() }
        guard !isPaused else {
            return SpoolReceipts(
                credentials: sealed,
                requests: batch.requests.map { _ in .postponed }
            )
        }
        let outcomes = try await Self.each(of: batch.requests, elseWaits: .postponed) {
            !waiting.contains($0.userHash)
        } by: {
            try await acceptSpooled($0)
        }
        if !batch.refused.isEmpty {
            try await state.refuse(batch.refused, now: now())
            for refused in batch.refused {
                logger.note(.requestRejected, Self.facts(refused.reason, .spool(refused.row)))
            }
        }
        return SpoolReceipts(credentials: sealed, requests: outcomes)
    }

    func rescanBegan() { unsealed.rescanBegan() }

    func rescanEnded() { unsealed.rescanEnded() }

    /// One receipt per row, in order; rows that are not ready get `waiting`.
    private static func each<Row, Receipt>(
        of rows: [Row],
        elseWaits waiting: Receipt,
        _ isReady: (Row) -> Bool,
        by take: ([Row]) async throws -> [Receipt]
    ) async throws -> [Receipt] {
        var receipts = try await take(rows.filter(isReady)).makeIterator()
        return rows.map { isReady($0) ? receipts.next() ?? waiting : waiting }
    }

    private func acceptSpooled(_ requests: [Submission]) async throws -> [SpoolRequestReceipt] {
        let outcomes = try await accept(requests)
        let refused = zip(requests, outcomes).compactMap { submission, outcome -> RefusedRow? in
            guard case .rejected(.unknownProvider) = outcome,
                case .spool(let row) = submission.origin
            else { return nil }
            return RefusedRow(row: row, reason: .unknownProvider)
        }
        if !refused.isEmpty { try await state.refuse(refused, now: now()) }
        return outcomes.map { outcome in
            switch outcome {
            case .accepted(let loaded, _): .accepted(loaded.request.id)
            case .same(let id): .same(id)
            case .rejected(let reason): .rejected(reason)
            case .unproven: .rejected(.freshSignInRequired)
            }
        }
    }

    private func storeCredentials(
        _ rows: [CredentialOffer]
    ) async throws -> [SpoolCredentialReceipt] {
        guard !rows.isEmpty else { return [] }
        let offers = rows.map { row in
            var offer = row
            offer.createdAt = clock?.corrected(row.createdAt) ?? row.createdAt
            return offer
        }
        return try await credentials.store(offers).map { outcome in
            switch outcome {
            case .stored, .importedBefore: .sealed
            // Twice another key: the next look at the spool finds the last one.
            case .otherKey, .keyGone, .signInUsed: .postponed
            // An open secret in the spool is the lesser evil: a key that returns makes it usable.
            case .rejected(.vaultSealed): .postponed
            case .rejected(let reason), .refused(let reason, _): .rejected(reason)
            }
        }
    }
}

/// Dates what comes in by the clock whose jumps the state has all accepted.
struct IntakeClock: Sendable {
    let clock: AnchoredClock
    let floor: @Sendable () -> WallTime
    let settleClock: @Sendable () async -> Void
    let beginAdmission: @Sendable () -> ReadNumber
    private let settledCount = Latest(0)

    /// Waits until the state has accepted every jump, and returns how many there were.
    func settle() async -> Int {
        let stepCount = clock.stamp().stepCount
        guard settledCount.value < stepCount else { return stepCount }
        await settleClock()
        settledCount.withLock { $0 = max($0, stepCount) }
        return stepCount
    }

    /// The time; `nil` when the clock has jumped since.
    func now(after stepCount: Int) -> WallTime? {
        let stamp = clock.stamp()
        return stamp.stepCount == stepCount ? stamp.time : nil
    }

    /// What the right clock would have shown when an application noted `time`.
    func corrected(_ time: WallTime) -> WallTime {
        clock.isSteady(since: time) ? time : clock.corrected(time)
    }

    /// Judges when an application noted a submission.
    ///
    /// Its time counts only without a jump of the clock since; otherwise the acceptance counts, and
    /// what a clock ahead has dated goes, too. While the clock is behind, its floor counts.
    func corrected(_ submission: Submission) -> Submission {
        var submission = submission
        let (now, floor) = (clock.now(), floor())
        if now < floor { submission.datedUpTo = floor }
        guard let noted = submission.createdAt, !clock.isSteady(since: noted) else {
            return submission
        }
        submission.createdAt = nil
        // A slew back leaves a clock that is ahead of itself.
        if noted > now, noted.since(now) < Limits.clockStepMin || clock.hasShown(noted) {
            submission.datedUpTo = max(submission.datedUpTo ?? noted, noted)
        }
        return submission
    }
}
