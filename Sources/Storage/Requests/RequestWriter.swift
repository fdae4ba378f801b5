import Engine
import Lifecycle

/// Writes new requests, and of known ones what differs.
struct RequestWriter {
    let database: any StateConnection
    let appender: LedgerAppender
    private let counter = CommitCounter()

    private init(_ database: any StateConnection, _ appender: LedgerAppender) {
        self.database = database
        self.appender = appender
    }

    /// Makes the changes of one mutation and writes what they add up to.
    static func write<Value>(
        _ database: any StateConnection,
        _ appender: LedgerAppender,
        _ body: (RequestWriter) throws -> Value
    ) throws -> Value {
        let writer = RequestWriter(database, appender)
        let value = try body(writer)
        try writer.counter.write(database)
        return value
    }

    private var leaves: RequestLeaves { RequestLeaves(appender: appender) }

    /// - Throws: `DatabaseError`; a constraint when the user has an open `delete_account`.
    func insert(_ loaded: LoadedRequest, of submission: Submission, generation: Int) throws {
        let request = loaded.request
        let accepted = AcceptedRequest(
            loaded: loaded,
            submission: submission,
            generation: generation,
            leaves: leaves.accept(loaded, of: submission, generation: generation)
        )
        try database.send(
            RequestColumn.insertion,
            RequestColumn.inserted.map { request.value($0, accepted) }
        )
        for (position, revocation) in request.revocations.enumerated() {
            try write(revocation, at: position, of: request.id, isNew: true)
        }
        for (position, purge) in request.purges.enumerated() {
            try write(purge, at: position, of: request.id, isNew: true)
        }
    }

    /// Writes what differs, and returns whether the request ended with it; does nothing for one
    /// that has ended in the meantime (merged).
    ///
    /// - Throws: `DatabaseError`; a constraint when a purge would begin before every verdict.
    func save(_ now: Request, was: Request, at time: WallTime) throws -> Bool {
        let isVisible =
            now.phase.state != was.phase.state
            || now.phase.parkReason != was.phase.parkReason
        let mark = appender.mark
        let change = leaves.change(now, was: was, at: time)
        guard !now.phase.isEnded else {
            guard try end(now, at: time, leaves: change) else {
                appender.goBack(to: mark)
                return false
            }
            try saveWork(now, was: was, at: time)
            return true
        }
        guard !change.isEmpty || now.rowDiffers(from: was) else {
            if try isOpen(now) { try saveWork(now, was: was, at: time) }
            return false
        }
        let changed = try database.run(
            RequestColumn.change,
            RequestColumn.changed.map { now.value($0) }
                + [.bool(isVisible), .time(time), .text(change)]
        )
        if changed > 0 { try saveWork(now, was: was, at: time) } else { appender.goBack(to: mark) }
        return false
    }

    private func isOpen(_ request: Request) throws -> Bool {
        try database.first(
            "SELECT ended_at IS NULL FROM requests WHERE id = ?",
            [.id(request.id)]
        ) { $0.bool() } ?? false
    }

    private func saveWork(_ now: Request, was: Request, at time: WallTime) throws {
        try saveApproval(of: now, was: was)
        for (position, revocation) in now.revocations.enumerated() {
            let before = position < was.revocations.count ? was.revocations[position] : nil
            guard before.map(revocation.differsOnDisk) ?? true else { continue }
            try write(revocation, at: position, of: now.id, isNew: before == nil)
            try saveTokens(revocation.credentials, was: before?.credentials ?? [], at: time)
        }
        for (position, purge) in now.purges.enumerated() {
            let before = position < was.purges.count ? was.purges[position] : nil
            guard before.map(purge.differsOnDisk) ?? true else { continue }
            try write(purge, at: position, of: now.id, isNew: before == nil)
        }
        if let startedAt = now.purgeStartedAt, was.purgeStartedAt == nil {
            counter.notePurge(at: startedAt)
        }
    }

    /// What the vault keeps of tokens for later requests.
    ///
    /// When they were last seen alive, which never goes back, and which a refresh may have used up.
    private func saveTokens(
        _ credentials: [CredentialWork],
        was: [CredentialWork],
        at time: WallTime
    ) throws {
        for (index, credential) in credentials.enumerated() {
            let known = index < was.count ? was[index] : nil
            let before = known?.id == credential.id ? known : nil
            let isInDoubt = credential.rotation.isInDoubt
            if isInDoubt != (before?.rotation.isInDoubt ?? false) {
                try saveDoubt(isInDoubt, of: credential, at: time)
            }
            guard
                credential.lastLiveAt != before?.lastLiveAt
                    || credential.lastRefreshAt != before?.lastRefreshAt
            else { continue }
            try database.send(
                """
                UPDATE credentials SET
                  last_live_at = max(coalesce(?1, last_live_at), coalesce(last_live_at, ?1)),
                  last_refresh_at =
                    max(coalesce(?2, last_refresh_at), coalesce(last_refresh_at, ?2))
                WHERE id = ?3
                """,
                [
                    .time(credential.lastLiveAt), .time(credential.lastRefreshAt),
                    .id(credential.id),
                ]
            )
        }
    }

    private func saveDoubt(
        _ isDoubtful: Bool,
        of token: CredentialWork,
        at time: WallTime
    ) throws {
        guard token.kind == .refreshToken else { return }
        // A live answer of the same time came before.
        let begunAt = token.lastLiveAt.map { max(time, $0 + .milliseconds(1)) } ?? time
        try database.send(
            "UPDATE credentials SET refresh_begun_at = ? WHERE id = ?",
            [.time(isDoubtful ? begunAt : nil), .id(token.id)]
        )
    }
}

// MARK: - The end

extension RequestWriter {
    /// Returns `false` when it had ended before.
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
            RequestColumn.end,
            RequestColumn.ended.map { request.value($0) } + [
                .time(time), .text(leaves), .time(endedAt), .text(request.endDetail),
                .int(try counter.nextEnd(database)), .int(scope?.id),
            ]
        )
        guard changed > 0 else { return false }
        counter.noteEnd(isCompleted: isCompleted)
        if isErased, let user {
            try forget(user.hash, of: request, at: time)
            let tombstone = Tombstone(
                hash: user.hash,
                generation: user.generation,
                erasedAt: endedAt,
                request: request.id
            )
            try tombstone.insert(database)
        } else {
            try destroyUsedCredentials(of: request)
            let tokens = request.revocations.flatMap(\.credentials)
            // The answer to a call under way comes too late.
            for token in tokens where token.rotation != .settled {
                try saveDoubt(true, of: token, at: time)
            }
        }
        return true
    }

    private func user(of id: RequestID) throws -> (hash: [UInt8], generation: Int)? {
        try database.first(
            "SELECT user_hash, generation FROM requests WHERE id = ?",
            [.id(id)]
        ) { (hash: $0.blob("user_hash"), generation: $0.int("generation")) }
    }

    private func forget(_ userHash: [UInt8], of request: Request, at time: WallTime) throws {
        let owner = try database.int("SELECT id FROM users WHERE user_hash = ?", [.blob(userHash)])
        guard owner > 0 else { return }
        if !request.revocations.isEmpty {
            try keepLinks(where: "owner", .int(owner), of: request, at: time)
        }
        // The cascade takes the identities and credentials along with the key.
        try database.send("DELETE FROM users WHERE id = ?", [.int(owner)])
    }

    /// Keeps keyed hashes of subjects for a while: the provider may yet report what we did.
    private func keepLinks(
        where column: String,
        _ value: SQLValue,
        of request: Request,
        at time: WallTime?
    ) throws {
        try database.send(
            """
            INSERT INTO erased_links (subject_hash, identity_id, provider, request_id, ended_at)
            SELECT subject_hash, id, provider, ?2, ?3
            FROM identities WHERE \(column) = ?1 AND subject_hash IS NOT NULL
            ON CONFLICT (subject_hash, identity_id) DO UPDATE SET provider = excluded.provider,
              request_id = excluded.request_id, ended_at = excluded.ended_at
            """,
            [value, .id(request.id), .time(time)]
        )
    }

    /// Destroys what can never be used again of an account that lives on.
    ///
    /// A later deletion would wait for a credential of a link that is no more. A merged request
    /// leaves everything to its successor.
    private func destroyUsedCredentials(of request: Request) throws {
        guard request.endDetail != Request.merged else { return }
        for revocation in request.revocations {
            guard let verdict = revocation.verdict else { continue }
            for credential in revocation.credentials where credential.kind != .authorizationCode {
                try database.send("DELETE FROM credentials WHERE id = ?", [.id(credential.id)])
            }
            guard verdict.isRevoked else { continue }
            try keepLinks(where: "id", .id(revocation.identity), of: request, at: request.endedAt)
            try database.send(
                """
                DELETE FROM identities WHERE id = ?1 AND NOT EXISTS
                  (SELECT 1 FROM credentials WHERE identity_id = ?1 AND sealed_secret IS NOT NULL)
                """,
                [.id(revocation.identity)]
            )
        }
    }
}

// MARK: - Revocations, purges and approvals

extension RequestWriter {
    private func write(
        _ revocation: Revocation,
        at position: Int,
        of id: RequestID,
        isNew: Bool
    ) throws {
        try database.send(
            isNew ? RevocationColumn.insertion : RevocationColumn.update,
            RevocationColumn.allCases.map { revocation.value($0, at: position, of: id) }
        )
    }

    private func write(
        _ purge: PurgeWork,
        at position: Int,
        of id: RequestID,
        isNew: Bool
    ) throws {
        try database.send(
            isNew ? PurgeColumn.insertion : PurgeColumn.update,
            PurgeColumn.allCases.map { purge.value($0, at: position, of: id) }
        )
    }

    /// Deletions that need no approval pay nothing for this statement.
    private func saveApproval(of now: Request, was: Request) throws {
        guard let approval = now.approval, approval.differsOnDisk(from: was.approval) else {
            return
        }
        try database.send(
            "UPDATE requests SET approval = ? WHERE id = ?",
            [.text(try ApprovalText.encode(approval)), .id(now.id)]
        )
    }
}

extension Request {
    var isErasure: Bool { phase == .completed && kind == .deleteAccount }

    fileprivate func rowDiffers(from other: Request) -> Bool {
        phase != other.phase || dueAt != other.dueAt || lane != other.lane
            || openRevocationCount != other.openRevocationCount
            || purgeStartedAt != other.purgeStartedAt || crashCount != other.crashCount
            || isHeld != other.isHeld || isWithoutIdentities != other.isWithoutIdentities
            || unreadSources != other.unreadSources || isBusy != other.isBusy
            || lookup?.columnText != other.lookup?.columnText
    }
}

extension Approval {
    fileprivate func differsOnDisk(from other: Approval?) -> Bool {
        guard var same = other else { return true }
        same.planning = planning
        same.confirmation = confirmation
        return self != same
    }
}

/// What the changes of one commit add up to; written once, at its end.
final class CommitCounter {
    /// Requests that had ended before; read with the first end.
    private var endedBefore: Int?
    private var completedCount = 0
    private var cancelledCount = 0
    /// By the second.
    private var purgeCounts: [Int64: Int] = [:]

    /// The place of the next end among all ends.
    func nextEnd(_ database: any StateConnection) throws -> Int {
        let before =
            try endedBefore ?? database.int("SELECT completed + cancelled FROM totals")
        endedBefore = before
        return before + completedCount + cancelledCount + 1
    }

    func noteEnd(isCompleted: Bool) {
        if isCompleted { completedCount += 1 } else { cancelledCount += 1 }
    }

    func notePurge(at time: WallTime) {
        purgeCounts[time.unixMilliseconds / 1000, default: 0] += 1
    }

    func write(_ database: any StateConnection) throws {
        if completedCount + cancelledCount > 0 {
            try database.send(
                """
                UPDATE totals SET completed = completed + ?, cancelled = cancelled + ?
                WHERE id = 1
                """,
                [.int(completedCount), .int(cancelledCount)]
            )
        }
        for (second, count) in purgeCounts {
            try database.send(
                PurgeLog.addition,
                PurgeLog.Column.row([.second: .int(second), .count: .int(count)])
            )
        }
    }
}
