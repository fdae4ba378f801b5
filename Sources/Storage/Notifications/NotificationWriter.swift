import Engine
import GRDB
import Lifecycle

/// Records and weighs notifications of providers inside one transaction.
struct NotificationWriter {
    let database: Database
    let appender: LedgerAppender

    /// A clock of the provider may be ahead of ours by this when an identity was made.
    private static let leeway = Duration.seconds(60)

    /// Forgets what is older than the retention.
    func forget(before time: WallTime) throws {
        try database.run("DELETE FROM notifications WHERE received_at < ?", [.time(time)])
        try database.run("DELETE FROM erased_links WHERE ended_at < ?", [.time(time)])
    }

    func record(_ notification: NotificationRecord) throws -> NotificationRecord {
        try database.run(
            NotificationColumn.insertion,
            NotificationColumn.allCases.map { notification.value($0) }
        )
        let found = try database.first(
            NotificationColumn.self,
            "FROM notifications WHERE key_hash = ?",
            [.blob(notification.keyHash)],
            body: NotificationRecord.init
        )
        return found ?? notification
    }

    /// An identity that has the subject.
    private struct Link {
        let identity: IdentityID
        let userHash: [UInt8]
        let createdAt: WallTime
        /// When a usable credential was stored or last seen alive.
        let freshAt: WallTime?
        let userKey: WrappedKey
        let userID: SealedUserID
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
        let newer =
            notification.meaning.endsAccount ? links.filter { isNewer($0, than: notification) } : []
        guard newer.count < links.count || newer.isEmpty else { return .stale }
        let cut = notification.meaning.cutsLink ? links.filter { isCut($0, by: notification) } : []
        // Also where something is newer: what was live before the cut is not live any more.
        if notification.meaning.cutsLink, mayUpdateLink { try noteCut(links, notification) }
        guard notification.meaning.endsAccount || notification.meaning.isHint || !cut.isEmpty else {
            return .stale
        }
        var update: [IdentityUpdate] = []
        var raised = 0
        for link in cut where mayUpdateLink {
            raised += try addToReceipts(of: link.identity, link.userHash, notification)
            let told = try IdentityUpdate.tell(
                link.identity,
                of: link.userHash,
                at: now,
                database
            )
            if let told { update.append(told) }
        }
        return .user(
            NotifiedUser(
                userHash: first.userHash,
                userKey: first.userKey,
                userID: first.userID,
                update: update,
                raised: raised,
                openDeletion: try openDeletion(of: first.userHash)
            )
        )
    }

    private func noteCut(_ links: [Link], _ notification: NotificationRecord) throws {
        for link in links {
            try database.run(
                """
                UPDATE identities SET link_cut_at = max(ifnull(link_cut_at, ?1), ?1) WHERE id = ?2
                """,
                [.time(notification.occurredAt), .id(link.identity)]
            )
        }
    }

    private func links(of subject: [UInt8], _ notification: NotificationRecord) throws -> [Link] {
        let all = try database.all(
            """
            SELECT i.id, u.user_hash, i.created_at,
              (SELECT max(max(c.created_at, ifnull(c.last_live_at, 0))) FROM credentials c
                WHERE c.identity_id = i.id
                  AND (c.sealed_secret IS NOT NULL OR c.code_phase = 'unknown')) AS fresh_at,
              u.wrapped_key, u.key_id, u.id_nonce, u.sealed_id, i.client_id
            FROM identities i INDEXED BY identities_subject JOIN users u ON u.id = i.owner
            WHERE i.provider = ? AND i.subject_hash = ? AND i.subject_hash IS NOT NULL
            """,
            [.text(notification.provider.rawValue), .blob(subject)]
        ) { row in
            let link = Link(
                identity: try row.identityID("id"),
                userHash: row.blob("user_hash"),
                createdAt: row.time("created_at"),
                freshAt: row.timeOrNil("fresh_at"),
                userKey: WrappedKey(bytes: row.blob("wrapped_key"), keyID: row.text("key_id")),
                userID: SealedUserID(rowNonce: row.blob("id_nonce"), sealed: row.blob("sealed_id"))
            )
            return (link: link, clientID: row.text("client_id"))
        }
        guard let clientIDs = notification.clientIDs else { return all.map(\.link) }
        return all.filter { clientIDs.contains($0.clientID) }.map(\.link)
    }

    /// Whether the identity belongs to a later life of the account than the notification.
    private func isNewer(_ link: Link, than notification: NotificationRecord) -> Bool {
        link.createdAt > notification.occurredAt + Self.leeway
    }

    /// Whether nothing usable is newer than the cut.
    private func isCut(_ link: Link, by notification: NotificationRecord) -> Bool {
        link.freshAt.map { $0 <= notification.occurredAt } ?? true
    }

    private func openDeletion(of userHash: [UInt8]) throws -> RequestID? {
        try database.first(
            "SELECT id FROM requests INDEXED BY requests_user WHERE user_hash = ? AND slot = x''",
            [.blob(userHash)]
        ) { try $0.requestID() }
    }

    /// Adds what the notification confirms to requests that have left revoking.
    ///
    /// Their verdicts stay.
    private func addToReceipts(
        of identity: IdentityID,
        _ userHash: [UInt8],
        _ notification: NotificationRecord
    ) throws -> Int {
        let condition = """
            identity_id = ? AND request_id IN (SELECT id FROM requests INDEXED BY requests_user
              WHERE user_hash = ? AND (phase = 'purging' OR phase = 'verifying'
                OR phase = 'completed'))
            """
        return try Addendum.record(
            notification,
            where: (condition, [.id(identity), .blob(userHash)]),
            RequestLeaves(appender: appender),
            database
        )
    }

    /// The user is gone, or the identity is, because of us: the latest such request is meant.
    private func echo(
        of subject: [UInt8],
        _ notification: NotificationRecord
    ) throws -> NotificationFinding {
        let request = try database.first(
            """
            SELECT request_id FROM erased_links WHERE subject_hash = ? AND provider = ?
            ORDER BY ended_at DESC LIMIT 1
            """,
            [.blob(subject), .text(notification.provider.rawValue)]
        ) { try $0.requestID() }
        guard let request else { return .unknown }
        guard notification.meaning.cutsLink else { return .echo(request, raised: 0) }
        let condition = """
            request_id = ? AND identity_id IN (SELECT identity_id FROM erased_links
              WHERE subject_hash = ? AND request_id = ?)
            """
        let raised = try Addendum.record(
            notification,
            where: (condition, [.id(request), .blob(subject), .id(request)]),
            RequestLeaves(appender: appender),
            database
        )
        return .echo(request, raised: raised)
    }
}
