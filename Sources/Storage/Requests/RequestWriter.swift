import Engine
import GRDB
import Lifecycle

/// Writes requests: the whole of a new one, and of a known one what differs.
struct RequestWriter {
    let database: Database
    let appender: LedgerAppender
    private let counter = CommitCounter()

    private init(_ database: Database, _ appender: LedgerAppender) {
        self.database = database
        self.appender = appender
    }

    /// Makes the changes of one mutation and writes what they add up to.
    ///
    /// - Throws: `DatabaseError`, or what `body` throws.
    static func write<Value>(
        _ database: Database,
        _ appender: LedgerAppender,
        _ body: (RequestWriter) throws -> Value
    ) throws -> Value {
        let writer = RequestWriter(database, appender)
        let value = try body(writer)
        try writer.counter.write(database)
        return value
    }

    private var leaves: RequestLeaves { RequestLeaves(appender: appender) }

    /// ``Lifecycle/Request/endDetail`` of a `revoke_tokens` that a `delete_account` has taken over.
    static let absorbed = "absorbed"

    /// Inserts a new request with its revocations and purges.
    ///
    /// - Throws: `DatabaseError`; a constraint when the user has an open `delete_account`.
    func insert(_ loaded: LoadedRequest, of submission: Submission, generation: Int) throws {
        let request = loaded.request
        let options = submission.options
        var uid = SQLValue.null
        var role = SQLValue.null
        var spoolRowCount = 1
        if case .control(let callerUID, let callerRole) = submission.origin {
            (uid, role, spoolRowCount) = (.int(Int64(callerUID)), .text(callerRole), 0)
        }
        try database.run(
            """
            INSERT INTO requests (id, kind, user_id, user_hash, slot, generation, grace_s,
              providers, reason, account_created_at, origin, origin_uid, origin_role, created_at,
              accepted_at, not_before, deadline_at, phase, due_at, lane, open_revocations,
              is_held, spool_rows, updated_at, lookup, leaves, is_anonymous)
            VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
            """,
            .id(request.id.value),
            .text(request.kind.rawValue),
            .text(loaded.user.exposeText()),
            .blob(loaded.userHash),
            request.kind == .deleteAccount ? .blob([]) : .id(request.id.value),
            .int(generation),
            options.graceSeconds.map { .int($0) } ?? .null,
            .text(ProviderNamesText.encode(options.providers)),
            .text(options.reason),
            .time(options.accountCreatedAt),
            .text(spoolRowCount == 0 ? "control" : "spool"),
            uid,
            role,
            .time(request.createdAt),
            .time(request.acceptedAt),
            .time(request.notBefore),
            .time(request.deadlineAt),
            .text(request.phase.columnText),
            .time(request.dueAt),
            .text(request.lane?.rawValue ?? ""),
            .int(request.openRevocationCount),
            .bool(request.isHeld),
            .int(spoolRowCount),
            .time(request.acceptedAt),
            .text(LookupText.encode(request.lookup)),
            .text(leaves.accept(loaded, of: submission, generation: generation)),
            .bool(request.isAnonymous)
        )
        try insertOperator(of: request)
        for (position, revocation) in request.revocations.enumerated() {
            try insert(revocation, at: position, of: request.id)
        }
        for (position, purge) in request.purges.enumerated() {
            try insert(purge, at: position, of: request.id)
        }
    }

    /// Writes what differs; does nothing for a request that has ended in the meantime (absorbed).
    ///
    /// - Returns: Whether the request ended with it.
    /// - Throws: `DatabaseError`; a constraint when a purge would begin before every verdict.
    func save(_ now: Request, was: Request, at time: WallTime) throws -> Bool {
        let isVisible =
            now.phase.wireState != was.phase.wireState
            || now.phase.parkReason != was.phase.parkReason
        let mark = appender.mark
        let change = leaves.change(now, was: was, at: time)
        guard !now.phase.isEnded else {
            guard try end(now, at: time, leaves: change) else {
                appender.goBack(to: mark)
                return false
            }
            try saveWork(now, was: was)
            return true
        }
        guard !change.isEmpty || now.rowDiffers(from: was) else {
            if try isOpen(now) { try saveWork(now, was: was) }
            return false
        }
        let until: WallTime? =
            if case .parked(_, _, let until) = now.phase { until } else { nil }
        let changed = try database.run(
            """
            UPDATE requests SET phase = ?, park_reason = ?, park_until = ?, due_at = ?,
              created_at = ?, accepted_at = ?, lane = ?, open_revocations = ?,
              purge_started_at = ?, crash_count = ?, is_held = ?,
              is_without_identities = ?, is_active = ?, lookup = ?,
              revision = revision + ?, updated_at = ?, leaves = leaves || ?
            WHERE id = ? AND ended_at IS NULL
            """,
            .text(now.phase.columnText),
            .text(now.phase.parkReason?.rawValue),
            .time(until),
            .time(now.dueAt),
            .time(now.createdAt),
            .time(now.acceptedAt),
            .text(now.lane?.rawValue ?? ""),
            .int(now.openRevocationCount),
            .time(now.purgeStartedAt),
            .int(now.crashCount),
            .bool(now.isHeld),
            .bool(now.isWithoutIdentities),
            .bool(now.isBusy),
            .text(LookupText.encode(now.lookup)),
            .bool(isVisible),
            .time(time),
            .text(change),
            .id(now.id.value)
        )
        if changed > 0 { try saveWork(now, was: was) } else { appender.goBack(to: mark) }
        return false
    }

    private func isOpen(_ request: Request) throws -> Bool {
        try database.first(
            "SELECT ended_at IS NULL FROM requests WHERE id = ?",
            .id(request.id.value)
        ) { $0.bool(0) } ?? false
    }

    private func saveWork(_ now: Request, was: Request) throws {
        try saveApproval(of: now, was: was)
        for (position, revocation) in now.revocations.enumerated() {
            guard position < was.revocations.count else {
                try insert(revocation, at: position, of: now.id)
                try saveTimes(revocation.credentials, was: [])
                continue
            }
            let before = was.revocations[position]
            guard revocation.differsOnDisk(from: before) else { continue }
            try update(revocation, at: position, of: now.id)
            try saveTimes(revocation.credentials, was: before.credentials)
        }
        for (position, purge) in now.purges.enumerated() {
            guard position < was.purges.count else {
                try insert(purge, at: position, of: now.id)
                continue
            }
            guard purge.differsOnDisk(from: was.purges[position]) else { continue }
            try update(purge, at: position, of: now.id)
        }
        if let startedAt = now.purgeStartedAt, was.purgeStartedAt == nil {
            counter.notePurge(at: startedAt)
        }
    }

    /// The vault's own record of when a token was last seen alive; it never goes back.
    private func saveTimes(_ credentials: [CredentialWork], was: [CredentialWork]) throws {
        for (index, credential) in credentials.enumerated() {
            let before = index < was.count ? was[index] : nil
            guard
                credential.lastLiveAt != before?.lastLiveAt
                    || credential.lastRefreshAt != before?.lastRefreshAt
            else { continue }
            try database.run(
                """
                UPDATE credentials SET
                  last_live_at = max(ifnull(?1, last_live_at), ifnull(last_live_at, ?1)),
                  last_refresh_at = max(ifnull(?2, last_refresh_at), ifnull(last_refresh_at, ?2))
                WHERE id = ?3
                """,
                .time(credential.lastLiveAt),
                .time(credential.lastRefreshAt),
                .int(credential.id.rowID)
            )
        }
    }
}

// MARK: - The end

extension RequestWriter {
    /// - Returns: `false` when it had ended before.
    private func end(_ request: Request, at time: WallTime, leaves text: String) throws -> Bool {
        let isCompleted = request.phase == .completed
        let isErased = request.isErasure
        let endedAt = request.endedAt ?? time
        let user = isErased ? try user(of: request.id) : nil
        let scope = appender.scope
        var completed = request
        completed.endedAt = endedAt
        let digest = isCompleted ? scope?.digest(completed) : nil
        let leaves = text + leaves.end(completed, at: endedAt, erased: user, receipt: digest)
        let changed = try database.run(
            """
            UPDATE requests SET phase = ?, park_reason = NULL, park_until = NULL, due_at = NULL,
              open_revocations = ?, purge_started_at = ?, crash_count = ?, is_held = ?,
              is_without_identities = ?, is_active = 0, lookup = ?,
              revision = revision + 1, updated_at = ?, user_id = NULL, ended_at = ?, end_detail = ?,
              end_sequence = ?, slot = id, leaves = leaves || ?, scope = ?
            WHERE id = ? AND ended_at IS NULL
            """,
            .text(request.phase.columnText),
            .int(request.openRevocationCount),
            .time(request.purgeStartedAt),
            .int(request.crashCount),
            .bool(request.isHeld),
            .bool(request.isWithoutIdentities),
            .text(LookupText.encode(request.lookup)),
            .time(time),
            .time(endedAt),
            .text(request.endDetail),
            .int(try counter.nextEnd(database)),
            .text(leaves),
            scope.map { .int($0.id) } ?? .null,
            .id(request.id.value)
        )
        guard changed > 0 else { return false }
        counter.noteEnd(isCompleted: isCompleted)
        if isErased, let user {
            try forget(user.hash, of: request, at: time)
            try database.run(
                """
                INSERT INTO tombstones (user_hash, generation, erased_at, request_id)
                VALUES (?, ?, ?, ?)
                """,
                .blob(user.hash),
                .int(user.generation),
                .time(endedAt),
                .id(request.id.value)
            )
        } else {
            try destroyUsedCredentials(of: request)
        }
        return true
    }

    private func user(of id: RequestID) throws -> (hash: [UInt8], generation: Int)? {
        try database.first("SELECT user_hash, generation FROM requests WHERE id = ?", .id(id.value))
        { (hash: $0.blob(0), generation: $0.int(1)) }
    }

    /// Destroys what the vault has of a user, and keeps the keyed hashes of the subjects for a
    /// while: the provider may yet tell what we did.
    private func forget(_ userHash: [UInt8], of request: Request, at time: WallTime) throws {
        let owner = try database.first(
            "SELECT id FROM users WHERE user_hash = ?",
            .blob(userHash)
        ) { $0.int(0) }
        guard let owner else { return }
        if !request.revocations.isEmpty {
            try database.run(
                """
                INSERT OR REPLACE INTO erased_links
                  SELECT subject_hash, id, provider, ?2, ?3 FROM identities
                  WHERE owner = ?1 AND subject_hash IS NOT NULL
                """,
                .int(owner),
                .id(request.id.value),
                .time(time)
            )
        }
        // The cascade takes the identities and credentials along with the key.
        try database.run("DELETE FROM users WHERE id = ?", .int(owner))
    }

    /// Destroys what can never be used again of an account that lives on.
    ///
    /// That is the credentials of identities with a verdict, and the identities whose link is cut.
    /// Otherwise a later deletion would wait for a credential of a link that is no more. An
    /// absorbed request leaves everything to its successor.
    private func destroyUsedCredentials(of request: Request) throws {
        guard request.endDetail != Self.absorbed else { return }
        for revocation in request.revocations {
            guard let verdict = revocation.verdict else { continue }
            for credential in revocation.credentials where credential.kind != .authorizationCode {
                try database.run("DELETE FROM credentials WHERE id = ?", .int(credential.id.rowID))
            }
            guard verdict.isRevoked else { continue }
            try database.run(
                """
                INSERT OR REPLACE INTO erased_links
                  SELECT subject_hash, id, provider, ?2, ?3 FROM identities
                  WHERE id = ?1 AND subject_hash IS NOT NULL
                """,
                .id(revocation.identity.value),
                .id(request.id.value),
                .time(request.endedAt)
            )
            try database.run(
                """
                DELETE FROM identities WHERE id = ?1 AND NOT EXISTS
                  (SELECT 1 FROM credentials WHERE identity_id = ?1 AND sealed_secret IS NOT NULL)
                """,
                .id(revocation.identity.value)
            )
        }
    }
}

// MARK: - Revocations and purges

extension RequestWriter {
    private func insert(_ revocation: Revocation, at position: Int, of id: RequestID) throws {
        try database.run(
            """
            INSERT INTO revocations (request_id, position, identity_id, provider, client_id,
              is_shared, credentials, verdict, attempts, failures, retry_at, waiting_since,
              started_at, ended_at, last_failure, is_linked, proof, refused_credentials)
            VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
            """,
            .id(id.value),
            .int(position),
            .id(revocation.identity.value),
            .text(revocation.provider.rawValue),
            .text(revocation.clientID),
            .bool(revocation.isShared),
            .text(CredentialWorkText.encode(revocation.credentials)),
            .text(revocation.verdict?.rawValue),
            .int(revocation.attempts),
            .int(revocation.failures),
            .time(revocation.retryAt),
            .time(revocation.waitingSince),
            .time(revocation.startedAt),
            .time(revocation.endedAt),
            .text(revocation.lastFailure),
            .bool(revocation.isLinked),
            .text(revocation.proof?.rawValue),
            .int(revocation.refusedCount)
        )
    }

    private func update(_ revocation: Revocation, at position: Int, of id: RequestID) throws {
        try database.run(
            """
            UPDATE revocations SET is_shared = ?, credentials = ?, verdict = ?, attempts = ?,
              failures = ?, retry_at = ?, waiting_since = ?, started_at = ?, ended_at = ?,
              last_failure = ?, proof = ?, refused_credentials = ?
            WHERE request_id = ? AND position = ?
            """,
            .bool(revocation.isShared),
            .text(CredentialWorkText.encode(revocation.credentials)),
            .text(revocation.verdict?.rawValue),
            .int(revocation.attempts),
            .int(revocation.failures),
            .time(revocation.retryAt),
            .time(revocation.waitingSince),
            .time(revocation.startedAt),
            .time(revocation.endedAt),
            .text(revocation.lastFailure),
            .text(revocation.proof?.rawValue),
            .int(revocation.refusedCount),
            .id(id.value),
            .int(position)
        )
    }

    private func insert(_ purge: PurgeWork, at position: Int, of id: RequestID) throws {
        try database.run(
            """
            INSERT INTO purges (request_id, position, target, step, counts, attempts, failures,
              retry_at, started_at, ended_at, last_failure, restored_at, obstacle)
            VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)
            """,
            .id(id.value),
            .int(position),
            .text(purge.target.rawValue),
            .text(purge.step.rawValue),
            .text(PurgeCountsText.encode(purge.counts)),
            .int(purge.attempts),
            .int(purge.failures),
            .time(purge.retryAt),
            .time(purge.startedAt),
            .time(purge.endedAt),
            .text(purge.lastFailure),
            .time(purge.restoredAt),
            .text(purge.obstacle)
        )
    }

    private func update(_ purge: PurgeWork, at position: Int, of id: RequestID) throws {
        try database.run(
            """
            UPDATE purges SET step = ?, counts = ?, attempts = ?, failures = ?, retry_at = ?,
              started_at = ?, ended_at = ?, last_failure = ?, restored_at = ?, obstacle = ?
            WHERE request_id = ? AND position = ?
            """,
            .text(purge.step.rawValue),
            .text(PurgeCountsText.encode(purge.counts)),
            .int(purge.attempts),
            .int(purge.failures),
            .time(purge.retryAt),
            .time(purge.startedAt),
            .time(purge.endedAt),
            .text(purge.lastFailure),
            .time(purge.restoredAt),
            .text(purge.obstacle),
            .id(id.value),
            .int(position)
        )
    }
}

extension Phase {
    /// The column `phase`; a parked request keeps its stage there.
    fileprivate var columnText: String {
        switch self {
        case .open(let stage), .parked(let stage, _, _): stage.rawValue
        case .completed: "completed"
        case .cancelled: "cancelled"
        }
    }
}

extension Request {
    /// Whether it ended with everything of the user erased.
    var isErasure: Bool { phase == .completed && kind == .deleteAccount }

    /// Whether the row of an open request differs, and not only its revocations and purges.
    fileprivate func rowDiffers(from other: Request) -> Bool {
        phase != other.phase || dueAt != other.dueAt || lane != other.lane
            || openRevocationCount != other.openRevocationCount
            || purgeStartedAt != other.purgeStartedAt || crashCount != other.crashCount
            || isHeld != other.isHeld || isWithoutIdentities != other.isWithoutIdentities
            || isBusy != other.isBusy
            || LookupText.encode(lookup) != LookupText.encode(other.lookup)
    }
}

extension Revocation {
    /// Whether anything differs but what is not stored.
    fileprivate func differsOnDisk(from other: Revocation) -> Bool {
        var same = other
        same.isBusy = isBusy
        same.isKeyMissing = isKeyMissing
        return self != same
    }
}

extension PurgeWork {
    fileprivate func differsOnDisk(from other: PurgeWork) -> Bool {
        var same = other
        same.isBusy = isBusy
        return self != same
    }
}
