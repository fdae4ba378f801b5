import GRDB
package import Lifecycle

/// What became known of a verdict after it was final: the receipt keeps the verdict, and this comes
/// beside it.
package struct Addendum: Hashable, Sendable {
    package let identity: IdentityID
    package let provider: ProviderName
    package let clientID: String
    /// What the verdict would be with this knowledge.
    package let verdict: Verdict
    /// The provider's notification, by its own name.
    package let event: String
    /// When it happened, as the provider says.
    package let occurredAt: WallTime
    package let recordedAt: WallTime
}

extension Addendum {
    /// ``event`` of a credential that was submitted after the verdict, and refused.
    package static let refusedCredential = "credential_refused"

    /// Adds it once: a second one of the same identity and event says nothing new.
    ///
    /// - Throws: `DatabaseError`.
    func add(to request: RequestID, _ leaves: RequestLeaves, _ database: Database) throws {
        let isKnown = try database.first(
            """
            SELECT 1 FROM addenda
            WHERE request_id = ? AND provider = ? AND client_id = ? AND event = ?
            """,
            .id(request.value),
            .text(provider.rawValue),
            .text(clientID),
            .text(event)
        ) { _ in true }
        guard isKnown == nil else { return }
        try insert(for: request, leaves.addendum(self, of: request), database)
    }

    /// Records that the provider reported the link as cut, for each verdict that this confirms.
    ///
    /// One addendum for an identity of a request: a second notification says nothing new.
    ///
    /// - Parameters:
    ///   - notice: The provider's notification.
    ///   - requests: A condition on `revocations`, and its values.
    ///   - leaves: Writes the entries of the ledger.
    ///   - database: Within the commit that weighs the notification.
    /// - Returns: How many verdicts it confirms.
    /// - Throws: `DatabaseError`, or ``StorageError`` of kind `malformed`.
    static func record(
        _ notification: NotificationRecord,
        where requests: (condition: String, values: [SQLValue]),
        _ leaves: RequestLeaves,
        _ database: Database
    ) throws -> Int {
        let confirmed = try database.all(
            """
            SELECT request_id, identity_id, client_id FROM revocations
            WHERE (verdict = 'accepted' OR verdict = 'unconfirmed') AND started_at <= ?
              AND \(requests.condition) AND NOT EXISTS (SELECT 1 FROM addenda a
                WHERE a.request_id = revocations.request_id
                  AND a.identity_id = revocations.identity_id AND a.verdict = 'proven')
            """,
            values: [.time(notification.occurredAt)] + requests.values
        ) { row in
            let addendum = Addendum(
                identity: try row.identityID(1),
                provider: notification.provider,
                clientID: row.text(2),
                verdict: .proven,
                event: notification.event,
                occurredAt: notification.occurredAt,
                recordedAt: notification.receivedAt
            )
            return (request: try row.requestID(0), addendum: addendum)
        }
        for (request, addendum) in confirmed {
            try addendum.insert(for: request, leaves.addendum(addendum, of: request), database)
        }
        return confirmed.count
    }

    private func insert(
        for request: RequestID,
        _ places: String,
        _ database: Database
    ) throws {
        try database.run(
            "INSERT INTO addenda VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            .id(request.value),
            .id(identity.value),
            .text(provider.rawValue),
            .text(clientID),
            .text(verdict.rawValue),
            .text(event),
            .time(occurredAt),
            .time(recordedAt)
        )
        try database.run(
            "UPDATE requests SET leaves = leaves || ? WHERE id = ?",
            .text(places),
            .id(request.value)
        )
    }

    /// Those of one request, the oldest first.
    ///
    /// - Throws: `DatabaseError`, or ``StorageError`` of kind `malformed`.
    static func all(of request: RequestID, _ database: Database) throws -> [Addendum] {
        try database.all(
            """
            SELECT identity_id, provider, client_id, verdict, event, occurred_at, recorded_at
            FROM addenda WHERE request_id = ? ORDER BY recorded_at, identity_id, event
            """,
            .id(request.value)
        ) { row in
            Addendum(
                identity: try row.identityID(0),
                provider: ProviderName(row.text(1)),
                clientID: row.text(2),
                verdict: try row.choice(3, as: Verdict.self),
                event: row.text(4),
                occurredAt: row.time(5),
                recordedAt: row.time(6)
            )
        }
    }
}
