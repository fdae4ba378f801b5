import Engine
import GRDB
import Lifecycle

/// Records and weighs notices of providers inside one transaction.
struct NotificationWriter {
    let database: Database
    let appender: LedgerAppender

    /// A clock of the provider may be ahead of ours by this when an identity was made.
    private static let leeway = Duration.seconds(60)

    static let query = """
        SELECT key_hash, provider, meaning, event, subject_hash, client_ids, occurred_at,
          received_at, uid, role, code, effect, request_id
        FROM notifications
        """

    /// Forgets what is older than the retention.
    func forget(before time: WallTime) throws {
        try database.run("DELETE FROM notifications WHERE received_at < ?", .time(time))
        try database.run("DELETE FROM erased_links WHERE ended_at < ?", .time(time))
    }

    func record(_ notification: NotificationRecord) throws -> NotificationRecord {
        try database.run(
            """
            INSERT OR IGNORE INTO notifications (key_hash, provider, meaning, event, subject_hash,
              client_ids, occurred_at, received_at, uid, role, code)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            .blob(notification.keyHash),
            .text(notification.provider.rawValue),
            .text(notification.meaning.rawValue),
            .text(notification.event),
            .blob(notification.subjectHash),
            .text(notification.clientIDs.map { $0.sorted().joined(separator: "\n") }),
            .time(notification.occurredAt),
            .time(notification.receivedAt),
            .int(Int64(notification.uid)),
            .text(notification.role),
            .text(notification.code)
        )
        let found = try database.first(
            Self.query + " WHERE key_hash = ?",
            .blob(notification.keyHash)
        ) { try NotificationRecord($0) }
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
                .time(notification.occurredAt),
                .id(link.identity.value)
            )
        }
    }

    private func links(of subject: [UInt8], _ notification: NotificationRecord) throws -> [Link] {
        let all = try database.all(
            """
            SELECT i.id, u.user_hash, i.created_at,
              (SELECT max(max(c.created_at, ifnull(c.last_live_at, 0))) FROM credentials c
                WHERE c.identity_id = i.id
                  AND (c.sealed_secret IS NOT NULL OR c.code_phase = 'unknown')),
              u.wrapped_key, u.key_id, u.id_nonce, u.sealed_id, i.client_id
            FROM identities i INDEXED BY identities_subject JOIN users u ON u.id = i.owner
            WHERE i.provider = ? AND i.subject_hash = ? AND i.subject_hash IS NOT NULL
            """,
            .text(notification.provider.rawValue),
            .blob(subject)
        ) { row in
            let link = Link(
                identity: try row.identityID(0),
                userHash: row.blob(1),
                createdAt: row.time(2),
                freshAt: row.timeOrNil(3),
                userKey: WrappedKey(bytes: row.blob(4), keyID: row.text(5)),
                userID: SealedUserID(rowNonce: row.blob(6), sealed: row.blob(7))
            )
            return (link: link, clientID: row.text(8))
        }
        guard let clientIDs = notification.clientIDs else { return all.map(\.link) }
        return all.filter { clientIDs.contains($0.clientID) }.map(\.link)
    }

    /// Whether the identity belongs to a later life of the account than the notice.
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
            .blob(userHash)
        ) { try $0.requestID(0) }
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
            where: (condition, [.id(identity.value), .blob(userHash)]),
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
            .blob(subject),
            .text(notification.provider.rawValue)
        ) { try $0.requestID(0) }
        guard let request else { return .unknown }
        guard notification.meaning.cutsLink else { return .echo(request, raised: 0) }
        let condition = """
            request_id = ? AND identity_id IN (SELECT identity_id FROM erased_links
              WHERE subject_hash = ? AND request_id = ?)
            """
        let raised = try Addendum.record(
            notification,
            where: (condition, [.id(request.value), .blob(subject), .id(request.value)]),
            RequestLeaves(appender: appender),
            database
        )
        return .echo(request, raised: raised)
    }
}

extension NotificationRecord {
    /// Reads a row of ``NotificationWriter/query``.
    init(_ row: SQLRow) throws {
        self.init(
            keyHash: row.blob(0),
            provider: ProviderName(row.text(1)),
            meaning: try row.choice(2, as: NotificationMeaning.self),
            event: row.text(3),
            subjectHash: row.blobOrNil(4),
            clientIDs: row.textOrNil(5).map { text in
                Set(text.split(separator: "\n").map(String.init))
            },
            occurredAt: row.time(6),
            receivedAt: row.time(7),
            uid: UInt32(truncatingIfNeeded: row.int(8)),
            role: row.text(9),
            code: row.textOrNil(10)
        )
        effect = try row.choiceOrNil(11, as: NotificationEffect.self)
        requestID = row.isNull(12) ? nil : try row.requestID(12)
    }
}
