import Engine
import Lifecycle

/// Records and weighs notifications of providers inside one transaction.
struct NotificationWriter {
    let database: any StateConnection
    let appender: LedgerAppender
    /// Whether another host may work on the user's requests.
    var isShared = false

    func forget(before time: WallTime) throws {
        try database.run("DELETE FROM notifications WHERE received_at < ?", [.time(time)])
        try database.run("DELETE FROM erased_links WHERE ended_at < ?", [.time(time)])
    }

    func record(_ notification: NotificationRecord) throws -> NotificationRecord {
        try database.run(NotificationColumn.insertion, notification.row)
        let found = try database.first(
            NotificationColumn.self,
            "FROM notifications WHERE key_hash = ?",
            [.blob(notification.keyHash)],
            body: NotificationRecord.init
        )
        return found ?? notification
    }

    private struct Link {
        let identity: IdentityID
        let userHash: [UInt8]
        let weighed: NotificationWeight.Link
        let userKey: WrappedKey
        let userID: SealedUserID
        let isOtherAccount: Bool
    }

    func weigh(
        _ notification: NotificationRecord,
        mayUpdateLink: Bool,
        at now: WallTime
    ) throws -> NotificationFinding {
        guard let subject = notification.subjectHash else { return .unknown }
        let links = try links(of: subject, notification)
        guard let first = links.first else { return try echo(of: subject, notification) }
        guard links.allSatisfy({ $0.userHash == first.userHash }) else { return .shared }
        let weight = NotificationWeight(notification.meaning, at: notification.occurredAt)
        guard !weight.endsEarlier(links.map(\.weighed)) else { return .stale }
        // Also where something is newer: what was live before the cut is not live any more.
        if notification.meaning.cutsLink, mayUpdateLink { try noteCut(links, notification) }
        let cut = links.filter { weight.cuts($0.weighed) }
        guard !cut.isEmpty || !weight.needsCut else { return .stale }
        var update: [IdentityUpdate] = []
        var raised = 0
        for link in cut where mayUpdateLink {
            raised += try addToReceipts(of: link, notification)
            let told = try IdentityUpdate.tell(
                link.identity,
                of: link.userHash,
                at: now,
                isShared: isShared,
                database
            )
            update += [told].compactMap(\.self)
        }
        return .user(
            NotifiedUser(
                userHash: first.userHash,
                userKey: first.userKey,
                userID: first.userID,
                update: update,
                raised: raised,
                openDeletion: try openDeletion(of: first.userHash),
                isOtherAccount: links.allSatisfy(\.isOtherAccount)
            )
        )
    }

    private func noteCut(_ links: [Link], _ notification: NotificationRecord) throws {
        for link in links {
            try database.run(
                """
                UPDATE identities SET link_cut_at = max(coalesce(link_cut_at, ?1), ?1) WHERE id = ?2
                """,
                [.time(notification.occurredAt), .id(link.identity)]
            )
        }
    }

    private func links(of subject: [UInt8], _ notification: NotificationRecord) throws -> [Link] {
        let all = try database.all(
            """
            SELECT i.id, u.user_hash, i.created_at,
              (SELECT max(max(c.created_at, coalesce(c.last_live_at, 0))) FROM credentials c
                WHERE c.identity_id = i.id
                  AND (c.sealed_secret IS NOT NULL OR c.code_phase = 'unknown')) AS fresh_at,
              u.wrapped_key, u.key_id, u.id_nonce, u.sealed_id, i.client_id,
              i.is_other_account
            FROM identities i INDEXED BY identities_subject JOIN users u ON u.id = i.owner
            WHERE i.provider = ? AND i.subject_hash = ? AND i.subject_hash IS NOT NULL
            """,
            [.text(notification.provider.rawValue), .blob(subject)]
        ) { row in
            let link = Link(
                identity: try row.identityID("id"),
                userHash: row.blob("user_hash"),
                weighed: NotificationWeight.Link(
                    createdAt: row.time("created_at"),
                    freshAt: row.timeOrNil("fresh_at")
                ),
                userKey: WrappedKey(bytes: row.blob("wrapped_key"), keyID: row.text("key_id")),
                userID: SealedUserID(rowNonce: row.blob("id_nonce"), sealed: row.blob("sealed_id")),
                isOtherAccount: row.bool("is_other_account")
            )
            return (link: link, clientID: row.text("client_id"))
        }
        guard let clientIDs = notification.clientIDs else { return all.map(\.link) }
        return all.filter { clientIDs.contains($0.clientID) }.map(\.link)
    }

    private func openDeletion(of userHash: [UInt8]) throws -> RequestID? {
        try database.first(
            "SELECT id FROM requests INDEXED BY requests_user WHERE user_hash = ? AND slot = x''",
            [.blob(userHash)]
        ) { try $0.requestID() }
    }

    /// Adds what the notification proves to requests that have left revoking.
    private func addToReceipts(of link: Link, _ notification: NotificationRecord) throws -> Int {
        let requests = try database.requestIDs(
            """
            SELECT id FROM requests INDEXED BY requests_user
            WHERE user_hash = ? AND phase IN ('purging', 'verifying', 'completed')
            """,
            [.blob(link.userHash)]
        )
        return try requests.reduce(0) { try $0 + record(notification, [link.identity], in: $1) }
    }

    private func record(
        _ notification: NotificationRecord,
        _ identities: Set<IdentityID>,
        in request: RequestID
    ) throws -> Int {
        let leaves = RequestLeaves(appender: appender)
        return try Addendum.record(notification, of: identities, in: request, leaves, database)
    }

    /// The service itself erased the user or cut the link: the latest such request is meant.
    private func echo(
        of subject: [UInt8],
        _ notification: NotificationRecord
    ) throws -> NotificationFinding {
        let request = try database.requestIDs(
            """
            SELECT request_id FROM erased_links WHERE subject_hash = ? AND provider = ?
            ORDER BY ended_at DESC LIMIT 1
            """,
            [.blob(subject), .text(notification.provider.rawValue)]
        ).first
        guard let request else { return .unknown }
        guard notification.meaning.cutsLink else { return .echo(request, raised: 0) }
        let identities = try database.all(
            "SELECT identity_id FROM erased_links WHERE subject_hash = ? AND request_id = ?",
            [.blob(subject), .id(request)]
        ) { try $0.identityID() }
        return .echo(request, raised: try record(notification, Set(identities), in: request))
    }
}
