import Engine
import GRDB
import Lifecycle

/// One row of `requests`, as far as it is not part of the state machine's own value.
struct RequestRow {
    /// The cutoff of request `r` as far as it is the same in all its stores: a restoration of one is
    /// not of the others.
    static let cutoff = """
        max(min(r.created_at, r.accepted_at), ifnull((SELECT min(ifnull(restored_at, 0)) \
        FROM purges WHERE request_id = r.id), 0))
        """

    var request: Request
    let user: UserID?
    let userHash: [UInt8]
    let generation: Int
    let options: SubmissionOptions
    let origin: RequestRecord.Origin
    let endSequence: Int?
    let revision: Int
    let updatedAt: WallTime
    let rechecks: [Recheck]
    /// An operator put this request on hold, whatever holds its user or its targets.
    let hasOwnHold: Bool

    /// What ``init(_:)`` reads, in its order.
    static let columns = """
        id, kind, user_id, user_hash, generation, grace_s, providers, reason, account_created_at,
        origin, origin_uid, origin_role, created_at, accepted_at, not_before, deadline_at,
        phase, park_reason, park_until, due_at, purge_started_at, ended_at, end_detail,
        end_sequence, crash_count, is_held OR has_own_hold
          OR EXISTS (SELECT 1 FROM user_holds WHERE user_hash = requests.user_hash),
        revision, updated_at, is_without_identities, lookup, approval, operator_uid, rechecks,
        is_anonymous, has_own_hold
        """

    /// Reads a row without its revocations and purges.
    ///
    /// - Throws: ``StorageError`` of kind `malformed`.
    init(_ row: SQLRow) throws {
        options = SubmissionOptions(
            graceSeconds: row.intOrNil(5),
            providers: try ProviderNamesText.decode(row.textOrNil(6)),
            reason: row.textOrNil(7),
            accountCreatedAt: row.timeOrNil(8)
        )
        request = Request(
            id: try row.requestID(0),
            kind: try row.choice(1, as: RequestKind.self),
            createdAt: row.time(12),
            acceptedAt: row.time(13),
            notBefore: row.time(14),
            deadlineAt: row.time(15),
            providerFilter: options.providers,
            identities: [],
            targets: []
        )
        request.phase = try Self.phase(row)
        request.dueAt = row.timeOrNil(19)
        request.purgeStartedAt = row.timeOrNil(20)
        request.endedAt = row.timeOrNil(21)
        request.endDetail = row.textOrNil(22)
        request.crashCount = row.int(24)
        request.isHeld = row.bool(25)
        request.isWithoutIdentities = row.bool(28)
        request.lookup = try LookupText.decode(row.textOrNil(29))
        request.approval = try ApprovalText.decode(row.textOrNil(30))
        request.submittedBy = row.intOrNil(31).map { UInt32(truncatingIfNeeded: $0) }
        user = row.textOrNil(2).flatMap { UserID($0) }
        userHash = row.blob(3)
        generation = row.int(4)
        origin =
            row.text(9) == "control"
            ? .control(uid: UInt32(truncatingIfNeeded: row.int(10)), role: row.text(11)) : .spool
        request.isAnonymous = row.bool(33)
        endSequence = row.intOrNil(23)
        revision = row.int(26)
        updatedAt = row.time(27)
        rechecks = try RecheckText.decode(row.textOrNil(32))
        hasOwnHold = row.bool(34)
    }

    private static func phase(_ row: SQLRow) throws -> Phase {
        let name = row.text(16)
        if let stage = Stage(rawValue: name) {
            guard let reason = try row.choiceOrNil(17, as: ParkReason.self) else {
                return .open(stage)
            }
            return .parked(stage, reason, until: row.timeOrNil(18))
        }
        switch name {
        case "completed": return .completed
        case "cancelled": return .cancelled
        default: throw SQLRow.malformed("phase")
        }
    }

    /// Reads the revocations and purges of the request.
    ///
    /// - Throws: `DatabaseError`, or ``StorageError`` of kind `malformed`.
    mutating func loadWork(_ database: Database) throws {
        request.revocations = try Self.revocations(of: request.id, database)
        guard request.kind == .deleteAccount else { return }
        request.purges = try Self.purges(of: request.id, database)
    }

    private static func revocations(of id: RequestID, _ database: Database) throws -> [Revocation] {
        try database.all(
            """
            SELECT identity_id, provider, client_id, is_shared, credentials, verdict, attempts,
              failures, retry_at, waiting_since, started_at, ended_at, last_failure, is_linked,
              proof, refused_credentials
            FROM revocations WHERE request_id = ? ORDER BY position
            """,
            .id(id.value)
        ) { row in
            var revocation = Revocation(
                IdentitySnapshot(
                    identity: try row.identityID(0),
                    provider: ProviderName(row.text(1)),
                    clientID: row.text(2),
                    isShared: row.bool(3),
                    credentials: try CredentialWorkText.decode(row.text(4)),
                    hadCredentials: VaultIdentity.hadCredentials
                )
            )
            revocation.verdict = try row.choiceOrNil(5, as: Verdict.self)
            revocation.attempts = row.int(6)
            revocation.failures = row.int(7)
            revocation.retryAt = row.timeOrNil(8)
            revocation.waitingSince = row.timeOrNil(9)
            revocation.startedAt = row.timeOrNil(10)
            revocation.endedAt = row.timeOrNil(11)
            revocation.lastFailure = row.textOrNil(12)
            revocation.isLinked = row.bool(13)
            revocation.proof = try row.choiceOrNil(14, as: Proof.self)
            revocation.refusedCount = row.int(15)
            return revocation
        }
    }

    private static func purges(of id: RequestID, _ database: Database) throws -> [PurgeWork] {
        try database.all(
            """
            SELECT target, step, counts, attempts, failures, retry_at, started_at, ended_at,
              last_failure, restored_at, obstacle
            FROM purges WHERE request_id = ? ORDER BY position
            """,
            .id(id.value)
        ) { row in
            var purge = PurgeWork(target: TargetName(row.text(0)))
            purge.step = try row.choice(1, as: PurgeWork.Step.self)
            purge.counts = try PurgeCountsText.decode(row.text(2))
            purge.attempts = row.int(3)
            purge.failures = row.int(4)
            purge.retryAt = row.timeOrNil(5)
            purge.startedAt = row.timeOrNil(6)
            purge.endedAt = row.timeOrNil(7)
            purge.lastFailure = row.textOrNil(8)
            purge.restoredAt = row.timeOrNil(9)
            purge.obstacle = row.textOrNil(10)
            return purge
        }
    }
}

extension RequestRow {
    /// An open request with its credentials; `nil` when it has ended or never was.
    ///
    /// - Throws: `DatabaseError`, or ``StorageError`` of kind `malformed`.
    static func loadOpen(_ id: RequestID, _ database: Database) throws -> LoadedRequest? {
        let found = try database.first(
            "SELECT \(columns) FROM requests WHERE id = ? AND ended_at IS NULL",
            .id(id.value)
        ) { try RequestRow($0) }
        guard var row = found else { return nil }
        try row.loadWork(database)
        guard let user = row.user else { throw SQLRow.malformed("user_id") }
        let isRevoking = row.request.phase.stage.map { $0 <= .revoking } ?? false
        let known = isRevoking ? try VaultIdentity.all(of: row.userHash, database) : []
        var loaded = LoadedRequest(
            request: row.request,
            user: user,
            userHash: row.userHash,
            credentials: VaultIdentity.credentials(of: known),
            unseen: known.map(\.snapshot).filter { row.request.hasNotSeen($0) }
        )
        if case .control(let uid, _) = row.origin { loaded.submitter = uid }
        return loaded
    }
}

extension Request {
    /// Whether the vault knows something about an identity that the request does not.
    fileprivate func hasNotSeen(_ snapshot: IdentitySnapshot) -> Bool {
        guard providerFilter?.contains(snapshot.provider) ?? true else { return false }
        guard let known = revocations.first(where: { $0.identity == snapshot.identity }) else {
            return true
        }
        guard known.isShared == snapshot.isShared else { return true }
        if snapshot.refusedCount > known.refusedCount { return true }
        if snapshot.isCut, known.verdict?.mayRise ?? true { return true }
        return snapshot.credentials.contains { credential in
            guard let work = known.credentials.first(where: { $0.id == credential.id }) else {
                return true
            }
            if credential.isInDoubt, !work.isInDoubt, !work.step.isFinal { return true }
            return work.step == .codePending && credential.step != .codePending
        }
    }
}
