package import Engine
package import Lifecycle

extension StateDatabase {
    /// Accepts submissions in order, all in one commit; later ones may join earlier ones.
    ///
    /// `now` is read inside the commit: a jump of the clock comes before both or after both. When
    /// it is `nil`, nothing is accepted and the result is `nil`.
    ///
    /// - Throws: ``StorageError``: nothing was accepted.
    package func accept(
        _ submissions: [Submission],
        policy: IntakePolicy,
        now: @escaping @Sendable () -> WallTime?,
        newID: @escaping @Sendable () -> RequestID
    ) async throws -> [SubmissionOutcome]? {
        defer { messageSignal.send() }
        return try await write { database, appender in
            try RequestWriter.write(database, appender) { requests in
                guard let now = now() else { return nil }
                var intake = Intake(requests: requests, policy: policy, now: now, newID: newID)
                let outcomes = try submissions.map { try intake.take($0) }
                try intake.forgetOldKeys()
                return outcomes
            }
        }
    }

    /// Accepts submissions at a known time.
    package func accept(
        _ submissions: [Submission],
        policy: IntakePolicy,
        now: WallTime,
        newID: @escaping @Sendable () -> RequestID
    ) async throws -> [SubmissionOutcome] {
        try await accept(submissions, policy: policy, now: { now }, newID: newID) ?? []
    }

    /// Records rows that break the public schema, so that each is refused once and mirrored.
    package func refuse(_ rows: [RefusedRow], now: WallTime) async throws {
        try await writer.perform { database in
            let imports = SpoolImports(database: database, source: .requests)
            for refused in rows {
                let known = try imports.known(of: refused.row)
                guard known.same == nil else { continue }
                let outcome = SpoolImports.Outcome.rejected(refused.reason.rawValue)
                try imports.add(refused.row, outcome, known: known, at: now)
            }
        }
    }
}

private struct Intake {
    let database: any StateConnection
    let requests: RequestWriter
    let policy: IntakePolicy
    let now: WallTime
    let newID: @Sendable () -> RequestID
    private var rememberedCount = 0

    init(
        requests: RequestWriter,
        policy: IntakePolicy,
        now: WallTime,
        newID: @escaping @Sendable () -> RequestID
    ) {
        database = requests.database
        (self.requests, self.policy, self.now, self.newID) = (requests, policy, now, newID)
    }

    mutating func take(_ submission: Submission) throws -> SubmissionOutcome {
        let imports = SpoolImports(database: database, source: .requests)
        var known = SpoolImports.Known()
        if case .spool(let row) = submission.origin {
            known = try imports.known(of: row)
            if let known = known.same { return try outcome(of: known) }
        }
        if let key = submission.idempotency, let found = try find(key) {
            // The row is a new one: the first lost its key when its user was erased.
            if case .spool(let row) = submission.origin {
                try record(found, of: row, imports, known)
            }
            return found
        }
        let outcome = try decide(submission)
        if case .spool(let row) = submission.origin {
            try record(outcome, of: row, imports, known)
        }
        if let key = submission.idempotency, let id = outcome.requestID { try remember(key, id) }
        return outcome
    }

    private func decide(_ submission: Submission) throws -> SubmissionOutcome {
        if let signIn = submission.signIn {
            let proof = try StateDatabase.record(signIn, at: now, database)
            guard proof == .recorded else { return .unproven(proof) }
        }
        let known = try known(of: submission)
        switch Admission(submission.kind, submission.options, of: known) {
        case .rejected(let reason): return .rejected(reason)
        case .same(let id): return .same(id)
        case .accepted(let absorbed):
            for id in absorbed { try absorb(id) }
            return .accepted(try insert(submission), absorbing: absorbed)
        }
    }

    private func known(of submission: Submission) throws -> Admission.Known {
        var known = Admission.Known()
        known.open = try openRequests(of: submission.userHash)
        known.isErased = try isErased(submission)
        known.lacksSignIn = try lacksSignIn(submission)
        return known
    }

    /// Whether the account that is meant was erased: its id belongs to another account now.
    private func isErased(_ submission: Submission) throws -> Bool {
        guard let madeAt = submission.options.accountCreatedAt else { return false }
        return try database.has(
            """
            SELECT 1 FROM requests INDEXED BY requests_user WHERE user_hash = ?
              AND kind = 'delete_account' AND phase = 'completed'
              AND min(created_at, accepted_at) >= ?
            """,
            [.blob(submission.userHash), .time(madeAt)]
        )
    }

    /// A deletion may need a recent sign-in.
    private func lacksSignIn(_ submission: Submission) throws -> Bool {
        guard let ageMax = policy.signInAgeMax, submission.kind == .deleteAccount,
            !submission.isSignInWaived
        else { return false }
        let signedInAt = try database.time(
            "SELECT signed_in_at FROM users WHERE user_hash = ?",
            [.blob(submission.userHash)]
        )
        return signedInAt.map { now.since($0) > ageMax } ?? true
    }

    private func openRequests(of userHash: [UInt8]) throws -> [Admission.OpenRequest] {
        try database.all(
            """
            SELECT id, kind, grace_s, providers, reason, account_created_at
            FROM requests INDEXED BY requests_user WHERE user_hash = ? AND ended_at IS NULL
            """,
            [.blob(userHash)]
        ) { row in
            Admission.OpenRequest(
                id: try row.requestID("id"),
                kind: try row.choice("kind", as: RequestKind.self),
                options: SubmissionOptions(
                    graceSeconds: row.intOrNil("grace_s"),
                    providers: try row.textOrNil("providers").map { try Set(columnText: $0) },
                    reason: row.textOrNil("reason"),
                    accountCreatedAt: row.timeOrNil("account_created_at")
                )
            )
        }
    }

    private func insert(_ submission: Submission) throws -> LoadedRequest {
        let generation = try database.int(
            """
            SELECT coalesce((SELECT max(generation) FROM requests INDEXED BY requests_user
                WHERE user_hash = ?1 AND kind = 'delete_account' AND phase = 'completed'), 0) + 1
            """,
            [.blob(submission.userHash)]
        )
        let known = try VaultIdentity.all(of: submission.userHash, database)
        let grace = max(policy.gracePeriod, .seconds(submission.options.graceSeconds ?? 0))
        let createdAt = min(submission.createdAt ?? now, now)
        var request = Request(
            id: newID(),
            kind: submission.kind,
            createdAt: createdAt,
            acceptedAt: now,
            notBefore: now + grace,
            deadlineAt: createdAt + policy.deadline,
            providerFilter: submission.options.providers,
            identities: known.map(\.snapshot),
            stores: policy.stores,
            directory: policy.directory
        )
        request.isHeld = try database.has(
            "SELECT 1 FROM user_holds WHERE user_hash = ?",
            [.blob(submission.userHash)]
        )
        request.submittedBy = submission.operatorUID
        request.isAnonymous = submission.isAnonymous
        for index in request.purges.indices {
            request.purges[index].restoredAt = submission.datedUpTo
        }
        var loaded = LoadedRequest(
            request: request,
            user: submission.user,
            userHash: submission.userHash,
            credentials: VaultIdentity.credentials(of: known)
        )
        if case .control(let uid, _) = submission.origin { loaded.submitter = uid }
        try requests.insert(loaded, of: submission, generation: generation)
        if let address = submission.address {
            try AddressTable(database: database).insert(address, of: request.id)
        }
        return loaded
    }

    /// Ends an open `revoke_tokens`: the new `delete_account` revokes the same credentials.
    private func absorb(_ id: RequestID) throws {
        guard let loaded = try RequestRecord.loadOpen(id, database) else { return }
        var request = loaded.request
        var context = StepContext(now: now, random: SeededGenerator(seed: 0))
        // Nothing is settled after the end, so neither policy nor effects matter.
        _ = try request.handle(.absorbed, &context, in: Environment(providers: [:]))
        _ = try requests.save(request, was: loaded.request, at: now)
    }

    // MARK: Exactly once

    private func outcome(of known: SpoolImports.Outcome) throws -> SubmissionOutcome {
        switch known {
        case .request(let id):
            return .same(id)
        case .rejected(let text):
            guard let reason = RejectReason(rawValue: text) else {
                throw StorageError.malformed("reject_reason")
            }
            return .rejected(reason)
        case .stored:
            throw StorageError.malformed("imports")
        }
    }

    private func record(
        _ outcome: SubmissionOutcome,
        of row: SpoolRow,
        _ imports: SpoolImports,
        _ known: SpoolImports.Known
    ) throws {
        switch outcome {
        case .accepted(let loaded, _):
            try imports.add(row, .request(loaded.request.id), known: known, at: now)
        case .same(let id):
            try imports.add(row, .request(id), known: known, at: now)
            // One more row to mirror into, and that at once.
            try database.send(
                """
                UPDATE requests SET spool_rows = spool_rows + 1, revision = revision + 1
                WHERE id = ?
                """,
                [.id(id)]
            )
        case .rejected(let reason):
            try imports.add(row, .rejected(reason.rawValue), known: known, at: now)
        case .unproven:
            // No row of a spool brings its sign-in along: it is a row of its own.
            throw StorageError.malformed("submission")
        }
    }

    private func find(_ key: IdempotencyKey) throws -> SubmissionOutcome? {
        try database.first(
            IdempotencyColumn.self,
            "FROM idempotency WHERE scope = ? AND key_hash = ?",
            [.text(key.scope), .blob(key.keyHash)]
        ) { row in
            row.blob(.bodyFingerprint) == key.bodyFingerprint
                ? .same(try row.requestID(.requestID)) : .rejected(.idempotencyConflict)
        }
    }

    /// Forgets a few of the oldest keys beside every commit that brings new ones: the table shrinks
    /// faster than it grows, and a service at rest does nothing.
    func forgetOldKeys() throws {
        guard rememberedCount > 0 else { return }
        try database.send(
            """
            DELETE FROM idempotency WHERE (scope, key_hash) IN
              (SELECT scope, key_hash FROM idempotency INDEXED BY idempotency_age
               WHERE created_at < ? ORDER BY created_at LIMIT ?)
            """,
            [.time(now - IdempotencyKey.lifetime), .int(rememberedCount * 2)]
        )
    }

    private mutating func remember(_ key: IdempotencyKey, _ id: RequestID) throws {
        rememberedCount += 1
        try database.send(
            IdempotencyColumn.insertion,
            IdempotencyColumn.row([
                .scope: .text(key.scope), .keyHash: .blob(key.keyHash), .requestID: .id(id),
                .bodyFingerprint: .blob(key.bodyFingerprint), .createdAt: .time(now),
            ])
        )
    }
}

private enum IdempotencyColumn: Int32, Columns {
    case scope, keyHash, requestID, bodyFingerprint, createdAt

    static let selection = makeSelection()
    static let insertion = insertion(of: allCases, into: "idempotency")
}

extension SubmissionOutcome {
    fileprivate var requestID: RequestID? {
        switch self {
        case .accepted(let loaded, _): loaded.request.id
        case .same(let id): id
        case .rejected, .unproven: nil
        }
    }
}
