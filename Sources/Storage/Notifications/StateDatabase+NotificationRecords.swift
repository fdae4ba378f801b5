import Engine
package import Lifecycle

extension StateDatabase {
    /// The service acts on notifications up to this age: transmitters keep them for days, and a
    /// replay must not be older than what is remembered.
    package static let notificationAgeMax = Duration.seconds(30 * 86_400)
    /// Beyond ``notificationAgeMax``, so that a replay is recognized; and for the status page.
    package static let notificationRetention = Duration.seconds(90 * 86_400)

    /// Records notifications in one commit, and returns what is recorded now, in order.
    package func recordNotifications(
        _ notifications: [NotificationRecord]
    ) async throws -> [NotificationRecord] {
        let forgotten = now() - Self.notificationRetention
        return try await write { database, appender in
            let writer = NotificationWriter(database: database, appender: appender)
            try writer.forget(before: forgotten)
            return try notifications.map { try writer.record($0) }
        }
    }

    /// The oldest first.
    package func pendingNotifications(limit: Int) async throws -> [NotificationRecord] {
        try await all(
            NotificationColumn.self,
            """
            FROM notifications INDEXED BY notifications_pending WHERE effect IS NULL
            ORDER BY received_at LIMIT ?
            """,
            [.int(limit)]
        ) { try NotificationRecord($0) }
    }

    /// For the status page.
    package func notification(
        code: String,
        of provider: ProviderName
    ) async throws -> NotificationRecord? {
        try await read { database in
            try database.first(
                NotificationColumn.self,
                "FROM notifications WHERE code = ? AND provider = ?",
                [.text(code), .text(provider.rawValue)]
            ) { try NotificationRecord($0) }
        }
    }

    /// Finds whom a notification is about and, if `mayUpdateLink`, marks the link as cut.
    ///
    /// Requests that have left revoking get an addendum. Requests that still revoke become due in
    /// the same commit; the updates say what they must know.
    package func weigh(
        _ notification: NotificationRecord,
        mayUpdateLink: Bool,
        at now: WallTime
    ) async throws -> NotificationFinding {
        try await write { [isShared = backend.isShared] database, appender in
            try NotificationWriter(
                database: database,
                appender: appender,
                isShared: isShared
            ).weigh(
                notification,
                mayUpdateLink: mayUpdateLink,
                at: now
            )
        }
    }

    /// Records what a notification did; its subject is forgotten with it.
    package func settleNotification(
        _ keyHash: [UInt8],
        _ effect: NotificationEffect,
        request: RequestID?
    ) async throws {
        _ = try await writer.perform { database in
            try database.run(
                """
                UPDATE notifications SET effect = ?, request_id = ?, subject_hash = NULL,
                  client_ids = NULL
                WHERE key_hash = ?
                """,
                [.text(effect.rawValue), .id(request), .blob(keyHash)]
            )
        }
    }
}
