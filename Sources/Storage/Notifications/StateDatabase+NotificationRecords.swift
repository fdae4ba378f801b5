import Engine
import GRDB
package import Lifecycle

extension StateDatabase {
    /// How old a notice may be to be acted on: transmitters keep what they could not deliver for
    /// days, and a replay that is older than what is remembered must not pass for updates.
    package static let notificationAgeMax = Duration.seconds(30 * 86_400)
    /// How long a notice is remembered; well beyond ``notificationAgeMax``, so that no replay is missed,
    /// and long enough for a status page.
    package static let notificationRetention = Duration.seconds(90 * 86_400)

    /// Records notices in one commit; one that was recorded before is left as it is.
    ///
    /// - Returns: What is recorded now, in order.
    /// - Throws: ``StorageError``: nothing was recorded, nothing may be acknowledged.
    package func recordNotifications(
        _ notifications: [NotificationRecord]
    ) async throws -> [NotificationRecord] {
        let forgotten = now() - Self.notificationRetention
        let appender = appender
        return try await writer.perform { database in
            let writer = NotificationWriter(database: database, appender: appender)
            try writer.forget(before: forgotten)
            return try notifications.map { try writer.record($0) }
        }
    }

    /// Notices that wait to be acted on, the oldest first.
    ///
    /// - Throws: ``StorageError``, or `CancellationError` in a cancelled task.
    package func pendingNotifications(limit: Int) async throws -> [NotificationRecord] {
        try await read { database in
            try database.all(
                NotificationWriter.query
                    + " INDEXED BY notifications_pending WHERE effect IS NULL"
                    + " ORDER BY received_at LIMIT ?",
                .int(limit)
            ) { try NotificationRecord($0) }
        }
    }

    /// The notice that a status page is asked about.
    ///
    /// - Throws: ``StorageError``, or `CancellationError` in a cancelled task.
    package func notification(
        code: String,
        of provider: ProviderName
    ) async throws -> NotificationRecord? {
        try await read { database in
            try database.first(
                NotificationWriter.query + " WHERE code = ? AND provider = ?",
                .text(code),
                .text(provider.rawValue)
            ) { try NotificationRecord($0) }
        }
    }

    /// Finds whom a notice is about and, where the policy allows it, marks the link as cut.
    ///
    /// Verdicts of requests that are past revoking rise here; those that still revoke are told by
    /// the updates, and are made due with the same commit.
    ///
    /// - Parameters:
    ///   - notice: A recorded one.
    ///   - mayUpdateLink: What the operator's policy says.
    ///   - now: The time of the change.
    /// - Returns: What is known; durable.
    /// - Throws: ``StorageError``: nothing was changed.
    package func weigh(
        _ notification: NotificationRecord,
        mayUpdateLink: Bool,
        at now: WallTime
    ) async throws -> NotificationFinding {
        let appender = appender
        return try await writer.perform { database in
            try NotificationWriter(database: database, appender: appender).weigh(
                notification,
                mayUpdateLink: mayUpdateLink,
                at: now
            )
        }
    }

    /// Records what a notice did; its subject is forgotten with it.
    ///
    /// - Throws: ``StorageError``: nothing was recorded, it still waits.
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
                .text(effect.rawValue),
                request.map { .id($0.value) } ?? .null,
                .blob(keyHash)
            )
        }
    }
}
