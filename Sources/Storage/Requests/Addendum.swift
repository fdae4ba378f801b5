package import Lifecycle

/// What became known of a verdict after it was final; the receipt shows it beside the verdict.
package struct Addendum: Hashable, Sendable {
    package let identity: IdentityID
    package let provider: ProviderName
    package let clientID: String
    /// What the verdict would be with this knowledge.
    package let verdict: Verdict
    /// As the provider names it.
    package let event: String
    /// As the provider says.
    package let occurredAt: WallTime
    package let recordedAt: WallTime
}

private enum AddendumColumn: Int32, Columns {
    case requestID, identityID, provider, clientID, verdict, event, occurredAt, recordedAt

    static let selection = makeSelection()
    static let insertion = insertion(of: allCases, into: "addenda")
}

extension Addendum {
    /// ``event`` of a credential that was submitted after the verdict, and refused.
    package static let refusedCredential = "credential_refused"

    /// Of one request and event: invented providers must not fill the receipt.
    private static let countMax = 32

    /// Adds it once: a second one of the same identity and event says nothing new.
    ///
    /// One that the vault does not have counts as any of its client.
    func add(to request: RequestID, _ leaves: RequestLeaves, _ database: any StateConnection) throws
    {
        let isKnown = try database.has(
            """
            SELECT 1 FROM addenda
            WHERE request_id = ?1 AND provider = ?2 AND client_id = ?3 AND event = ?4
              AND (identity_id = ?5 OR NOT EXISTS (SELECT 1 FROM identities WHERE id = ?5))
            """,
            [
                .id(request), .text(provider.rawValue), .text(clientID), .text(event),
                .id(identity),
            ]
        )
        let count = try database.int(
            "SELECT count(*) FROM addenda WHERE request_id = ? AND event = ?",
            [.id(request), .text(event)]
        )
        guard !isKnown, count < Self.countMax else { return }
        try insert(for: request, leaves.addendum(self, of: request), database)
    }

    /// Records what the provider reported of the links of a request, for each verdict that this
    /// proves, and returns how many.
    ///
    /// One addendum for an identity of a request: a second notification says nothing new.
    static func record(
        _ notification: NotificationRecord,
        of identities: Set<IdentityID>,
        in id: RequestID,
        _ leaves: RequestLeaves,
        _ database: any StateConnection
    ) throws -> Int {
        guard let record = try RequestRecord.find(id, database) else { return 0 }
        let known = Set(record.addenda.filter { $0.verdict == .proven }.map(\.identity))
        let proven = record.request.revocations.filter {
            identities.contains($0.identity) && !known.contains($0.identity)
                && $0.wouldRise(cutAt: notification.occurredAt)
        }
        for revocation in proven {
            let addendum = Addendum(
                identity: revocation.identity,
                provider: notification.provider,
                clientID: revocation.clientID,
                verdict: .proven,
                event: notification.event,
                occurredAt: notification.occurredAt,
                recordedAt: notification.receivedAt
            )
            try addendum.insert(for: id, leaves.addendum(addendum, of: id), database)
        }
        return proven.count
    }

    private func insert(
        for request: RequestID,
        _ places: String,
        _ database: any StateConnection
    ) throws {
        try database.run(
            AddendumColumn.insertion,
            AddendumColumn.row([
                .requestID: .id(request), .identityID: .id(identity),
                .provider: .text(provider.rawValue), .clientID: .text(clientID),
                .verdict: .text(verdict.rawValue), .event: .text(event),
                .occurredAt: .time(occurredAt), .recordedAt: .time(recordedAt),
            ])
        )
        try database.run(
            "UPDATE requests SET leaves = leaves || ? WHERE id = ?",
            [.text(places), .id(request)]
        )
    }

    /// The oldest first.
    static func all(of request: RequestID, _ database: any StateConnection) throws -> [Addendum] {
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
}
