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

/// The columns of `addenda`.
private enum AddendumColumn: Int32, Columns {
    case requestID, identityID, provider, clientID, verdict, event, occurredAt, recordedAt

    static let selection = makeSelection()
    static let insertion = insertion(of: allCases, into: "addenda")
}

extension Addendum {
    /// ``event`` of a credential that was submitted after the verdict, and refused.
    package static let refusedCredential = "credential_refused"

    /// The most addenda of one request that submitters can cause.
    ///
    /// The receipt says by then that tokens may live on; invented providers must not fill it.
    private static let countMax = 32

    /// Adds it once: a second one of the same identity and event says nothing new.
    func add(to request: RequestID, _ leaves: RequestLeaves, _ database: Database) throws {
        let isKnown = try database.has(
            """
            SELECT 1 FROM addenda
            WHERE request_id = ? AND provider = ? AND client_id = ? AND event = ?
            """,
            [.id(request), .text(provider.rawValue), .text(clientID), .text(event)]
        )
        guard !isKnown, try count(event, of: request, database) < Self.countMax else { return }
        try insert(for: request, leaves.addendum(self, of: request), database)
    }

    private func count(
        _ event: String,
        of request: RequestID,
        _ database: Database
    ) throws -> Int {
        try database.first(
            "SELECT count(*) AS count FROM addenda WHERE request_id = ? AND event = ?",
            [.id(request), .text(event)]
        ) { $0.int() } ?? 0
    }

    /// Records that the provider reported the link as cut, for each verdict that this confirms, and
    /// returns how many.
    ///
    /// One addendum for an identity of a request: a second notification says nothing new.
    /// `requests` is a condition on `revocations` with its values.
    static func record(
        _ notification: NotificationRecord,
        where requests: (condition: String, values: [SQLValue]),
        _ leaves: RequestLeaves,
        _ database: Database
    ) throws -> Int {
        let rising = Verdict.allCases.filter(\.mayRise).map { "'\($0.rawValue)'" }
        let confirmed = try database.all(
            """
            SELECT request_id, identity_id, client_id FROM revocations
            WHERE verdict IN (\(rising.joined(separator: ", "))) AND started_at <= ?
              AND \(requests.condition) AND NOT EXISTS (SELECT 1 FROM addenda a
                WHERE a.request_id = revocations.request_id
                  AND a.identity_id = revocations.identity_id AND a.verdict = 'proven')
            """,
            [.time(notification.occurredAt)] + requests.values
        ) { row in
            let addendum = Addendum(
                identity: try row.identityID("identity_id"),
                provider: notification.provider,
                clientID: row.text("client_id"),
                verdict: .proven,
                event: notification.event,
                occurredAt: notification.occurredAt,
                recordedAt: notification.receivedAt
            )
            return (request: try row.requestID("request_id"), addendum: addendum)
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
            AddendumColumn.insertion,
            AddendumColumn.allCases.map { value($0, of: request) }
        )
        try database.run(
            "UPDATE requests SET leaves = leaves || ? WHERE id = ?",
            [.text(places), .id(request)]
        )
    }

    /// Those of one request, the oldest first.
    static func all(of request: RequestID, _ database: Database) throws -> [Addendum] {
        try database.all(
            AddendumColumn.self,
            "FROM addenda WHERE request_id = ? ORDER BY recorded_at, identity_id, event",
            [.id(request)],
            body: Addendum.init
        )
    }

    private init(_ row: Row<AddendumColumn>) throws {
        self.init(
            identity: try row.identityID(.identityID),
            provider: row.provider(.provider),
            clientID: row.text(.clientID),
            verdict: try row.choice(.verdict, as: Verdict.self),
            event: row.text(.event),
            occurredAt: row.time(.occurredAt),
            recordedAt: row.time(.recordedAt)
        )
    }

    private func value(_ column: AddendumColumn, of request: RequestID) -> SQLValue {
        switch column {
        case .requestID: .id(request)
        case .identityID: .id(identity)
        case .provider: .text(provider.rawValue)
        case .clientID: .text(clientID)
        case .verdict: .text(verdict.rawValue)
        case .event: .text(event)
        case .occurredAt: .time(occurredAt)
        case .recordedAt: .time(recordedAt)
        }
    }
}
