import Engine
package import Lifecycle

/// One identity of a user, without anything secret or personal.
package struct IdentityRecord: Hashable, Sendable {
    package let id: IdentityID
    package let provider: ProviderName
    package let clientID: String
    package let hasSubject: Bool
    /// When a sign-in after the first credential pinned the subject.
    package let subjectFirstSeenAt: WallTime?
    /// Without spent codes.
    package let credentialCount: Int
    package let hasPendingCode: Bool
    /// The last code that brought no token.
    package let failedCode: FailedCode?
    /// The latest successful token answer.
    package let lastLiveAt: WallTime?
    package let updatedAt: WallTime
}

/// An authorization code that was refused, expired or sent without an answer.
package struct FailedCode: Hashable, Sendable {
    package let createdAt: WallTime
    package let phase: CodeExchange.Phase
    package let failures: Int
    package let answer: Refusal?
}

/// What became of an identity that was to be forgotten.
package enum ForgetOutcome: Hashable, Sendable {
    case forgotten
    case unknown
    /// An open request still works on it.
    case inUse(RequestID)
}

extension StateDatabase {
    /// The identities of a user, the oldest first.
    package func identities(_ userHash: [UInt8]) async throws -> [IdentityRecord] {
        try await read { database in
            try database.all(
                """
                SELECT i.id, i.provider, i.client_id, i.subject_hash IS NOT NULL AS has_subject,
                  i.subject_first_seen_at,
                  count(c.id) FILTER (WHERE c.sealed_secret IS NOT NULL) AS credentials,
                  count(c.id) FILTER (WHERE c.code_phase IN ('pending', 'exchanging')) AS codes,
                  max(c.last_live_at) AS live_at, i.updated_at,
                  f.code_phase, f.created_at AS code_at, f.code_failures,
                  f.code_answer
                FROM users u JOIN identities i ON i.owner = u.id
                  LEFT JOIN credentials c ON c.identity_id = i.id
                  LEFT JOIN credentials f ON f.id = (SELECT max(id) FROM credentials
                    WHERE identity_id = i.id AND code_phase IN ('refused', 'unknown', 'expired'))
                WHERE u.user_hash = ? GROUP BY i.id, f.id ORDER BY i.id
                """,
                [.blob(userHash)]
            ) { row in
                IdentityRecord(
                    id: try row.identityID("id"),
                    provider: row.provider("provider"),
                    clientID: row.text("client_id"),
                    hasSubject: row.bool("has_subject"),
                    subjectFirstSeenAt: row.timeOrNil("subject_first_seen_at"),
                    credentialCount: row.int("credentials"),
                    hasPendingCode: row.int("codes") > 0,
                    failedCode: try row.choiceOrNil("code_phase", as: CodeExchange.Phase.self).map {
                        FailedCode(
                            createdAt: row.time("code_at"),
                            phase: $0,
                            failures: row.int("code_failures"),
                            answer: try row.textOrNil("code_answer").map {
                                try Refusal(columnText: $0)
                            }
                        )
                    },
                    lastLiveAt: row.timeOrNil("live_at"),
                    updatedAt: row.time("updated_at")
                )
            }
        }
    }

    /// `nil` while the subject is unknown.
    package func subjectHash(of identity: IdentityID) async throws -> [UInt8]? {
        try await first(
            "SELECT subject_hash FROM identities WHERE id = ?",
            [.id(identity)]
        ) { $0.blobOrNil() } ?? nil
    }

    /// Destroys an identity of a user with all its credentials, and the data key with the last one.
    ///
    /// That it existed is remembered, for the receipt.
    package func forgetIdentity(
        _ identity: IdentityID,
        of userHash: [UInt8],
        by uid: UInt32
    ) async throws -> ForgetOutcome {
        let at = now()
        let outcome = try await writer.perform { database -> ForgetOutcome in
            let user = try database.requestIDs(
                """
                SELECT r.id FROM revocations v JOIN requests r ON r.id = v.request_id
                WHERE r.user_hash = ? AND r.ended_at IS NULL AND v.identity_id = ? LIMIT 1
                """,
                [.blob(userHash), .id(identity)]
            ).first
            if let user { return .inUse(user) }
            let provider = try database.first(
                "SELECT provider FROM identities WHERE id = ?",
                [.id(identity)]
            ) { $0.provider() }
            // A token that stays without a subject may be of this account.
            try database.run(
                """
                UPDATE identities SET had_others = 1 WHERE EXISTS (
                  SELECT 1 FROM identities f JOIN users u ON u.id = f.owner
                  WHERE f.id = ? AND u.user_hash = ? AND f.owner = identities.owner
                    AND f.provider = identities.provider AND f.client_id = identities.client_id)
                """,
                [.id(identity), .blob(userHash)]
            )
            let count = try database.run(
                """
                DELETE FROM identities WHERE id = ?
                  AND owner = (SELECT id FROM users WHERE user_hash = ?)
                """,
                [.id(identity), .blob(userHash)]
            )
            guard count > 0, let provider else { return .unknown }
            try database.setFact(
                "note:" + ForgottenIdentity.prefix(userHash) + identity.description,
                to: ForgottenIdentity(provider: provider, at: at, uid: uid).text
            )
            try database.run(
                """
                DELETE FROM users WHERE user_hash = ?1
                  AND NOT EXISTS (SELECT 1 FROM identities WHERE owner = users.id)
                """,
                [.blob(userHash)]
            )
            return .forgotten
        }
        if outcome == .forgotten { scrubSignal.send() }
        return outcome
    }

    /// Whether the user id was erased before, and when last.
    package func erasedAt(_ userHash: [UInt8]) async throws -> WallTime? {
        try await read { database in
            try database.time(
                """
                SELECT max(ended_at) FROM requests
                WHERE user_hash = ? AND kind = 'delete_account' AND phase = 'completed'
                """,
                [.blob(userHash)]
            )
        }
    }
}
