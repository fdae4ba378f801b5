import Engine
package import Lifecycle

extension StateDatabase {
    /// How long an ended message stays in the list.
    package static let messageRetention = Duration.seconds(30 * 86_400)
    /// Ended messages in the list: some days of a busy service.
    package static let endedMessagesMax: Int64 = 20_000
    /// Deleted with each commit of results: more than it ends.
    private static let forgottenMax = 200
    /// Given up in one commit: some milliseconds.
    private static let expiredMax = 2000

    /// Makes the queues fit the configuration; what waits for a subscriber that is gone goes.
    ///
    /// Without `[mail]` the addresses of users go, too.
    package func keepSubscribers(_ wishes: [SubscriberWish]) async throws {
        let forgotAddresses = try await writer.perform { database in
            for wish in wishes {
                try database.run(
                    SubscriberColumn.replacement,
                    SubscriberColumn.row([
                        .name: .text(wish.name.rawValue),
                        .wantsRequests: .bool(wish.wantsRequests),
                        .wantsAlarms: .bool(wish.wantsAlarms),
                    ])
                )
            }
            let known = Set(wishes.map(\.name.rawValue))
            for name in try database.all("SELECT name FROM subscribers", body: { $0.text() })
            where !known.contains(name) {
                try database.run("DELETE FROM messages WHERE subscriber = ?", [.text(name)])
                try database.run("DELETE FROM subscribers WHERE name = ?", [.text(name)])
            }
            guard !known.contains(SubscriberName.mail.rawValue) else { return false }
            return try database.run("DELETE FROM addresses") > 0
        }
        if forgotAddresses { requestScrub() }
        messageSignal.send()
    }

    /// The queues of all subscribers, by name.
    package func messageQueues() async throws -> [SubscriberQueue] {
        try await all(
            """
            SELECT name, waiting, dropped, (SELECT min(due_at) FROM messages
                INDEXED BY messages_due WHERE subscriber = name AND due_at IS NOT NULL) AS next_at
            FROM subscribers ORDER BY name
            """
        ) { row in
            SubscriberQueue(
                name: SubscriberName(row.text("name")),
                waiting: row.int("waiting"),
                dropped: row.int("dropped"),
                nextAt: row.timeOrNil("next_at")
            )
        }
    }

    /// What is due for one subscriber, the longest due first.
    package func dueMessages(
        for subscriber: SubscriberName,
        at now: WallTime,
        limit: Int
    ) async throws -> [MessageRecord] {
        try await all(
            MessageColumn.self,
            """
            FROM messages INDEXED BY messages_due
            WHERE subscriber = ? AND due_at <= ? ORDER BY due_at, sequence LIMIT ?
            """,
            [.text(subscriber.rawValue), .time(now), .int(limit)],
            body: MessageRecord.init
        )
    }

    /// Records attempts in one commit; a confirmation that ends takes its address along.
    ///
    /// A message that is gone, or was not waiting, stays so.
    package func record(
        _ attempts: [MessageAttempt],
        of subscriber: SubscriberName,
        now: WallTime
    ) async throws {
        try await writer.perform { database in
            for attempt in attempts {
                try database.run(
                    """
                    UPDATE messages SET attempts = attempts + 1, attempted_at = ?1, status = ?2,
                      last_failure = ?3, due_at = ?4, is_delivered = ?6
                    WHERE sequence = ?5 AND due_at IS NOT NULL
                    """,
                    [
                        .time(attempt.at), .int(attempt.status), .text(attempt.failure),
                        .time(attempt.nextAt), .int(attempt.id.sequence),
                        .bool(attempt.isDelivered),
                    ]
                )
            }
            try Self.forgetEnded(database, now: now)
        }
        let hasEnded = attempts.contains { $0.nextAt == nil }
        if subscriber == .mail, hasEnded { requestScrub() }
    }

    /// Gives up some of what a subscriber has waited for since before a time, and returns how many.
    package func expireMessages(
        of subscriber: SubscriberName,
        begunBefore time: WallTime
    ) async throws -> Int {
        let count = try await writer.perform { database in
            try database.run(
                """
                UPDATE messages SET due_at = NULL, last_failure = coalesce(last_failure, 'lost')
                WHERE sequence IN
                  (SELECT sequence FROM messages INDEXED BY messages_due
                   WHERE subscriber = ? AND due_at IS NOT NULL AND begun_at < ? LIMIT ?)
                """,
                [.text(subscriber.rawValue), .time(time), .int(Self.expiredMax)]
            )
        }
        if subscriber == .mail, count > 0 { requestScrub() }
        return count
    }

    /// Looks for what is due.
    package func wakeMessages() { messageSignal.send() }

    /// Messages may be due; yields once at the start.
    package var messageSignals: AsyncStream<Void> { messageSignal.signals }

    /// Some of the oldest ended messages.
    private static func forgetEnded(_ database: any StateConnection, now: WallTime) throws {
        try database.run(
            """
            DELETE FROM messages WHERE sequence IN
              (SELECT sequence FROM
                (SELECT sequence, begun_at FROM messages INDEXED BY messages_ended
                 WHERE due_at IS NULL ORDER BY sequence LIMIT ?3) AS oldest
               WHERE begun_at < ?1
                 OR sequence <= (SELECT max(sequence) FROM messages) - ?2)
            """,
            [
                .time(now - messageRetention), .int(endedMessagesMax), .int(forgottenMax),
            ]
        )
    }

    /// Queues an alarm for everyone who wants alarms.
    package func queue(_ alarms: [AlarmMessage]) async throws {
        try await writer.perform { database in
            for alarm in alarms { try Self.queue(alarm, database) }
        }
        messageSignal.send()
    }

    private static func queue(_ alarm: AlarmMessage, _ database: any StateConnection) throws {
        let most = SQLValue.int(StateSchema.waitingMessagesMax)
        try database.run(
            """
            UPDATE subscribers SET dropped = dropped + 1
              WHERE wants_alarms = 1 AND waiting >= ?1 AND name IS DISTINCT FROM ?2
            """,
            [most, .text(alarm.exempt?.rawValue)]
        )
        try database.run(
            """
            \(MessageColumn.queue)
              SELECT name, 'alarm', ?1, ?2, ?3, ?4, ?5, ?5, ?5 FROM subscribers
              WHERE wants_alarms = 1 AND waiting < ?6 AND name IS DISTINCT FROM ?7
            """,
            [
                .text(alarm.severity), .text(alarm.event), .text(alarm.text), .id(alarm.request),
                .time(alarm.at), most, .text(alarm.exempt?.rawValue),
            ]
        )
    }

    // MARK: For operators

    /// Some messages, the newest first, before one of them.
    package func messages(
        before sequence: Int64?,
        isWaiting: Bool?,
        limit: Int
    ) async throws -> [MessageRecord] {
        let condition =
            isWaiting.map { $0 ? "AND due_at IS NOT NULL" : "AND due_at IS NULL" } ?? ""
        return try await all(
            MessageColumn.self,
            "FROM messages WHERE sequence < ? \(condition) ORDER BY sequence DESC LIMIT ?",
            [.int(sequence ?? Int64.max), .int(limit)],
            body: MessageRecord.init
        )
    }

    /// Delivers a message again, whether or not it was delivered.
    ///
    /// Returns `nil` when there is none; one whose address is destroyed stays as it is.
    package func redeliver(_ id: MessageID, at now: WallTime) async throws -> MessageRecord? {
        let found = try await writer.perform { database -> MessageRecord? in
            func find() throws -> MessageRecord? {
                try database.first(
                    MessageColumn.self,
                    "FROM messages WHERE sequence = ?",
                    [.int(id.sequence)],
                    body: MessageRecord.init
                )
            }
            guard let before = try find(), before.message.id == id else { return nil }
            let hasReceiver = before.message.topic != .confirmation || before.dueAt != nil
            guard hasReceiver else { return before }
            try database.run(
                """
                UPDATE messages SET due_at = ?1, begun_at = ?1, is_delivered = 0, attempts = 0
                WHERE sequence = ?2
                """,
                [.time(now), .int(id.sequence)]
            )
            return try find()
        }
        messageSignal.send()
        return found
    }
}
