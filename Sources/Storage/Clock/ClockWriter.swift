package import Lifecycle

/// Corrects stored times after a jump of the clock, and brings implausible ones back.
struct ClockWriter {
    let database: any StateConnection
    /// Messages and the log of purges are those of all hosts.
    var scope = PartitionScope.all
    /// Where the record of this host's clock is.
    var note = StateDatabase.clockNote

    /// Does in the state what ``Lifecycle/Request/reclock(_:at:)`` does in memory, for every open
    /// request, and for what else is due at a time; a test compares the two.
    func reclock(_ step: ClockStep, at now: WallTime) throws {
        let by = SQLValue.int(step.by.milliseconds)
        let (from, to) = (SQLValue.time(step.from), SQLValue.time(step.latest))
        try movePurges(isForward: step.by > .zero, from, to)
        try database.run(
            """
            UPDATE purges SET judged_at = judged_at + ?3 WHERE judged_at BETWEEN ?1 AND ?2
              \(scope.ofRequest("request_id"))
            """,
            [from, to, by]
        )
        if step.by > .zero {
            // A wait for a sign-in that began by a clock that was behind lasts as long.
            try database.run(
                """
                UPDATE revocations SET waiting_since = waiting_since + ?3
                WHERE waiting_since BETWEEN ?1 AND ?2 AND request_id IN
                  (SELECT id FROM requests WHERE ended_at IS NULL\(scope.term()))
                """,
                [from, to, by]
            )
        }
        try database.run(
            """
            UPDATE requests SET not_before = not_before + ?3, deadline_at = deadline_at + ?3,
              accepted_at = min(accepted_at + ?3, ?4),
              created_at = min(min(created_at, accepted_at) + ?3, ?4),
              due_at = CASE WHEN park_reason IS NULL AND due_at IS NOT NULL THEN ?4 ELSE due_at END
            WHERE ended_at IS NULL AND accepted_at BETWEEN ?1 AND ?2\(scope.term())
            """,
            [from, to, by, .time(now)]
        )
        try moveCredentials(isForward: step.by > .zero, from, to, by)
        try database.run(
            """
            UPDATE rechecks SET opened_at = opened_at + ?3, due_at = max(?4, due_at + ?3)
            WHERE opened_at BETWEEN ?1 AND ?2\(scope.ofRequest("request_id"))
            """,
            [from, to, by, .time(now)]
        )
        try database.run(
            """
            UPDATE messages SET begun_at = begun_at + ?3, due_at = ?4
            WHERE due_at IS NOT NULL AND begun_at BETWEEN ?1 AND ?2
            """,
            [from, to, by, .time(now)]
        )
        try change { $0.take(step) }
        if step.by < .zero {
            try moveRenewals(behind: from, by, .time(now))
            for table in ["revocations", "purges"] {
                try database.run(
                    """
                    UPDATE \(table) SET retry_at = ?1 WHERE retry_at > ?1 AND request_id IN
                      (SELECT id FROM requests WHERE ended_at IS NULL\(scope.term()))
                    """,
                    [.time(now)]
                )
            }
        }
        try clamp(at: now, latest: step.by < .zero ? now : now + Limits.backoffMax)
    }

    /// A token that a clock that was behind dated is newer than it seems: no cut was after it.
    ///
    /// One of a clock that was ahead keeps its time, which claims less.
    private func moveCredentials(
        isForward: Bool,
        _ from: SQLValue,
        _ to: SQLValue,
        _ by: SQLValue
    ) throws {
        guard isForward else {
            try database.run(
                """
                UPDATE credentials SET created_at = created_at + ?3
                WHERE code_phase IN ('pending', 'exchanging') AND created_at BETWEEN ?1 AND ?2
                  \(scope.ofIdentity("identity_id"))
                """,
                [from, to, by]
            )
            return
        }
        try database.run(
            """
            UPDATE credentials SET expires_at = expires_at + ?3
            WHERE max(created_at, coalesce(last_live_at, 0)) BETWEEN ?1 AND ?2
              \(scope.ofIdentity("identity_id"))
            """,
            [from, to, by]
        )
        let columns = [
            ("credentials", "created_at"), ("credentials", "last_live_at"),
            ("credentials", "last_refresh_at"), ("credentials", "refresh_begun_at"),
            ("identities", "created_at"), ("identities", "subject_first_seen_at"),
            ("users", "signed_in_at"),
        ]
        for (table, column) in columns {
            try database.run(
                """
                UPDATE \(table) SET \(column) = \(column) + ?3
                WHERE \(column) BETWEEN ?1 AND ?2\(term(of: table))
                """,
                [from, to, by]
            )
        }
    }

    private func term(of table: String) -> String {
        switch table {
        case "credentials": scope.ofIdentity("identity_id")
        case "identities": scope.ofUser("owner")
        default: scope.term()
        }
    }

    /// Purges again what a clock that was behind spared, or keeps the cutoff of one that was ahead.
    private func movePurges(isForward: Bool, _ from: SQLValue, _ to: SQLValue) throws {
        guard isForward else {
            try database.run(
                """
                UPDATE purges SET restored_at = max(coalesce(restored_at, 0), r.cutoff)
                FROM (SELECT id, min(created_at, accepted_at) AS cutoff FROM requests
                  WHERE ended_at IS NULL AND accepted_at BETWEEN ?1 AND ?2\(scope.term())) AS r
                WHERE purges.request_id = r.id
                """,
                [from, to]
            )
            return
        }
        try database.run(
            """
            UPDATE purges SET step = 'waiting', ended_at = NULL, retry_at = NULL, failures = 0
            WHERE step <> 'waiting' AND request_id IN (SELECT id FROM requests
              WHERE ended_at IS NULL AND accepted_at BETWEEN ?1 AND ?2\(scope.term()))
            """,
            [from, to]
        )
    }

    /// - Returns: The new record; `nil` without one.
    @discardableResult func change(_ body: (inout ClockRecord) -> Void) throws -> ClockRecord? {
        let text = try database.fact("note:" + note)
        guard var record = text.flatMap({ ClockRecord($0) }) else { return nil }
        body(&record)
        try keep(record)
        return record
    }

    func keep(_ record: ClockRecord) throws {
        try database.setFact("note:" + note, to: record.text)
    }

    /// What a clock that was ahead has made due far too late.
    private func moveRenewals(behind from: SQLValue, _ by: SQLValue, _ now: SQLValue) throws {
        try database.run(
            """
            UPDATE renewals SET
              due_at = CASE WHEN due_at > ?1 THEN max(?3, due_at + ?2) ELSE due_at END,
              warn_at = CASE WHEN warn_at > ?1 THEN max(?3, warn_at + ?2) ELSE warn_at END
            WHERE (due_at > ?1 OR warn_at > ?1)\(scope.ofCredential("credential_id"))
            """,
            [from, by, now]
        )
    }

    /// Brings times to now that lie further ahead than any that the service sets.
    func clamp(at now: WallTime, latest: WallTime? = nil) throws {
        let latest = SQLValue.time(latest ?? now + Limits.backoffMax)
        try database.run(
            """
            UPDATE requests SET due_at = ?1 WHERE ended_at IS NULL AND due_at > ?2
              AND park_reason IS NULL
              AND (phase = 'revoking' OR phase = 'purging' OR phase = 'verifying')\(scope.term())
            """,
            [.time(now), latest]
        )
        try database.run(
            """
            UPDATE requests SET due_at = ?1 WHERE ended_at IS NULL AND due_at > ?1 AND id IN
              (SELECT request_id FROM revocations WHERE verdict IS NULL AND waiting_since > ?1)
              \(scope.term())
            """,
            [.time(now)]
        )
        let second = SQLValue.int(now.unixMilliseconds / 1000)
        try database.run(
            """
            INSERT INTO purge_log (\(PurgeLog.Column.names()))
            SELECT ?1, sum(count) FROM purge_log WHERE second > ?1 HAVING sum(count) > 0
            \(PurgeLog.merging)
            """,
            [second]
        )
        try database.run("DELETE FROM purge_log WHERE second > ?1", [second])
        try database.run(
            """
            UPDATE credentials SET created_at = ?1
            WHERE code_phase IN ('pending', 'exchanging') AND created_at > ?1
              \(scope.ofIdentity("identity_id"))
            """,
            [.time(now)]
        )
        for column in ["last_live_at", "last_refresh_at", "refresh_begun_at"] {
            try database.run(
                """
                UPDATE credentials SET \(column) = ?1
                WHERE \(column) > ?1\(scope.ofIdentity("identity_id"))
                """,
                [.time(now)]
            )
        }
        try database.run(
            "UPDATE users SET signed_in_at = ?1 WHERE signed_in_at > ?1\(scope.term())",
            [.time(now)]
        )
    }
}

extension StateDatabase {
    /// The name of the note that holds a ``ClockRecord``.
    package static var clockNote: String { "clock" }

    /// Takes over a jump of the clock that happened while no engine ran, and brings implausible
    /// times back; before the engine starts.
    ///
    /// - Parameters:
    ///   - step: `nil` when none is known.
    ///   - now: The time of the start.
    ///   - record: What is kept about the clock from now on; `nil` changes nothing more.
    /// - Throws: ``StorageError``: nothing was changed.
    package func reclock(
        _ step: ClockStep?,
        at now: WallTime,
        keeping record: ClockRecord? = nil
    ) async throws {
        let (note, isShared) = (ownName(Self.clockNote), backend.isShared)
        try await writer.perform { database in
            let writer = ClockWriter(database: database, note: note)
            // Of several hosts nobody knows by whose clock a time was written.
            if let step, !isShared {
                try writer.reclock(step, at: now)
            } else {
                try writer.clamp(at: now)
            }
            if let record { try writer.keep(record) }
        }
    }
}
