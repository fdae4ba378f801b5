import Engine
package import Lifecycle

/// All that is known about one request, open or ended.
package struct RequestRecord: Hashable, Sendable {
    /// Where the request came from.
    package enum Origin: Hashable, Sendable {
        case control(uid: UInt32, role: String)
        case spool
    }

    package private(set) var request: Request
    /// `nil` once the request has ended.
    package let user: UserID?
    package let userHash: [UInt8]
    /// An operator put this request alone on hold.
    package let hasOwnHold: Bool
    /// Which life of the account it is, from 1.
    package let generation: Int
    package let options: SubmissionOptions
    package let origin: Origin
    private let endSequence: Int?
    /// Rises when applications see a change.
    package let revision: Int
    package let updatedAt: WallTime
    /// When what the end destroyed had left our files.
    package private(set) var scrubbedAt: WallTime?
    package let rechecks: [Recheck]
    package private(set) var addenda: [Addendum] = []
    package private(set) var openRecheck: RecheckOutlook?

    /// The cutoff of request `r` as far as all its stores share it.
    static let cutoff = """
        CASE WHEN r.id IS NULL THEN NULL ELSE max(min(r.created_at, r.accepted_at), \
        coalesce((SELECT min(coalesce(restored_at, 0)) FROM purges WHERE request_id = r.id), 0)) END
        """

    private init(_ row: Row<RequestColumn>) throws {
        options = SubmissionOptions(
            graceSeconds: row.intOrNil(.graceS),
            providers: try row.textOrNil(.providers).map { try Set(columnText: $0) },
            reason: row.textOrNil(.reason),
            accountCreatedAt: row.timeOrNil(.accountCreatedAt)
        )
        request = Request(
            id: try row.requestID(.id),
            kind: try row.choice(.kind, as: RequestKind.self),
            createdAt: row.time(.createdAt),
            acceptedAt: row.time(.acceptedAt),
            notBefore: row.time(.notBefore),
            deadlineAt: row.time(.deadlineAt),
            providerFilter: options.providers,
            identities: [],
            stores: []
        )
        request.phase = try Self.phase(row)
        request.dueAt = row.timeOrNil(.dueAt)
        request.purgeStartedAt = row.timeOrNil(.purgeStartedAt)
        request.endedAt = row.timeOrNil(.endedAt)
        request.endDetail = row.textOrNil(.endDetail)
        request.crashCount = row.int(.crashCount)
        request.isHeld = row.bool(.isHeld)
        request.isWithoutIdentities = row.bool(.isWithoutIdentities)
        request.unreadSources =
            try row.textOrNil(.unreadSources)
            .map { Set(try ColumnText($0, "unread_sources").texts()) } ?? []
        request.lookup = try row.textOrNil(.lookup).map { try LookupWork(columnText: $0) }
        request.approval = try ApprovalText.decode(row.textOrNil(.approval))
        request.submittedBy = row.isNull(.operatorUID) ? nil : row.uid(.operatorUID)
        user = row.textOrNil(.userID).flatMap { UserID($0) }
        userHash = row.blob(.userHash)
        generation = row.int(.generation)
        origin =
            row.text(.origin) == "control"
            ? .control(uid: row.uid(.originUID), role: row.text(.originRole)) : .spool
        request.isAnonymous = row.bool(.isAnonymous)
        endSequence = row.intOrNil(.endSequence)
        revision = row.int(.revision)
        updatedAt = row.time(.updatedAt)
        rechecks = try [Recheck](columnText: row.textOrNil(.rechecks))
        hasOwnHold = row.bool(.hasOwnHold)
    }

    private static func phase(_ row: Row<RequestColumn>) throws -> Phase {
        let name = row.text(.phase)
        if let stage = Stage(rawValue: name) {
            guard let reason = try row.choiceOrNil(.parkReason, as: ParkReason.self) else {
                return .open(stage)
            }
            return .parked(stage, reason, until: row.timeOrNil(.parkUntil))
        }
        switch name {
        case "completed": return .completed
        case "cancelled": return .cancelled
        default: throw StorageError.malformed("phase")
        }
    }

    private static func load(
        _ condition: String,
        _ id: RequestID,
        _ database: any StateConnection
    ) throws -> RequestRecord? {
        let rest = "FROM requests WHERE \(condition)"
        var record = try database.first(RequestColumn.self, rest, [.id(id)]) { try Self($0) }
        try record?.loadWork(database)
        return record
    }

    private mutating func loadWork(_ database: any StateConnection) throws {
        request.revocations = try database.all(
            RevocationColumn.self,
            "FROM revocations WHERE request_id = ? ORDER BY position",
            [.id(request.id)],
            body: Revocation.init
        )
        guard request.kind == .deleteAccount else { return }
        request.purges = try database.all(
            PurgeColumn.self,
            "FROM purges WHERE request_id = ? ORDER BY position",
            [.id(request.id)],
            body: PurgeWork.init
        )
    }
}

extension RequestRecord {
    static func find(_ id: RequestID, _ database: any StateConnection) throws -> RequestRecord? {
        guard var record = try load("id = ?", id, database) else { return nil }
        record.scrubbedAt = try record.endSequence.flatMap { sequence in
            try database.time(
                "SELECT at FROM scrubs WHERE through >= ? ORDER BY through LIMIT 1",
                [.int(sequence)]
            )
        }
        if record.request.phase.isEnded {
            record.openRecheck = try RecheckOutlook.find(id, database)
        }
        record.addenda = try Addendum.all(of: id, database)
        return record
    }

    /// `nil` when it has ended or never was.
    static func loadOpen(_ id: RequestID, _ database: any StateConnection) throws -> LoadedRequest?
    {
        guard let row = try load("id = ? AND ended_at IS NULL", id, database) else { return nil }
        guard let user = row.user else { throw StorageError.malformed("user_id") }
        let isRevoking = row.request.phase.stage.map { $0 <= .revoking } ?? false
        let known = isRevoking ? try VaultIdentity.all(of: row.userHash, database) : []
        var request = row.request
        for index in request.revocations.indices where !request.revocations[index].isLinked {
            let identity = request.revocations[index].identity
            request.revocations[index].subjectHash =
                known.first { $0.snapshot.identity == identity }?.snapshot.subjectHash
        }
        var loaded = LoadedRequest(
            request: request,
            user: user,
            userHash: row.userHash,
            credentials: VaultIdentity.credentials(of: known),
            unseen: known.map(\.snapshot).filter { row.request.hasNotSeen($0) }
        )
        if case .control(let uid, _) = row.origin { loaded.submitter = uid }
        return loaded
    }
}

extension Request {
    /// Whether the vault knows something about an identity that the request does not.
    func hasNotSeen(_ snapshot: IdentitySnapshot) -> Bool {
        guard providerFilter?.contains(snapshot.provider) ?? true else { return false }
        guard let known = revocations.first(where: { $0.identity == snapshot.identity }) else {
            return true
        }
        guard known.isShared == snapshot.isShared,
            known.isOtherAccount == snapshot.isOtherAccount,
            known.isOneOfSeveral || !snapshot.hadOthers
        else { return true }
        if snapshot.refusedCount > known.refusedCount { return true }
        if snapshot.isCut, known.verdict?.mayRise ?? true { return true }
        return snapshot.credentials.contains { credential in
            guard let work = known.credentials.first(where: { $0.id == credential.id }) else {
                return true
            }
            if credential.rotation.isInDoubt, !work.rotation.isInDoubt, !work.step.isFinal {
                return true
            }
            return work.isUnnamed != credential.isUnnamed
                || work.step == .codePending && credential.step != .codePending
        }
    }
}
