import Encoding
import Engine
import Lifecycle

/// The columns that ``RequestRecord`` reads, then those that are only written.
enum RequestColumn: Int32, Columns {
    case id, kind, userID, userHash, generation, graceS, providers, reason, accountCreatedAt
    case origin, originUID, originRole, operatorUID, isAnonymous
    case createdAt, acceptedAt, notBefore, deadlineAt, updatedAt, revision
    case phase, parkReason, parkUntil, dueAt, purgeStartedAt, endedAt, endDetail, endSequence
    case crashCount, isHeld, hasOwnHold, isWithoutIdentities, unreadSources, lookup, approval
    case rechecks
    case slot, lane, openRevocations, isActive, spoolRows, leaves

    static let selection = makeSelection(
        of: Array(allCases.prefix { $0 != .slot }),
        [
            .isHeld: """
            is_held = 1 OR has_own_hold = 1
              OR EXISTS (SELECT 1 FROM user_holds WHERE user_hash = requests.user_hash)
            """
        ]
    )

    static let inserted: [Self] = [
        .id, .kind, .userID, .userHash, .slot, .generation, .graceS, .providers, .reason,
        .accountCreatedAt, .origin, .originUID, .originRole, .operatorUID, .isAnonymous,
        .createdAt, .acceptedAt, .notBefore, .deadlineAt, .phase, .dueAt, .lane, .lookup,
        .openRevocations, .isHeld, .spoolRows, .leaves, .updatedAt,
    ]
    /// What the machine changes in an open request.
    static let changed: [Self] = [
        .id, .phase, .parkReason, .parkUntil, .dueAt, .createdAt, .acceptedAt, .lane, .lookup,
        .openRevocations, .purgeStartedAt, .crashCount, .isHeld, .isWithoutIdentities,
        .unreadSources, .isActive,
    ]
    /// What the last change writes of them.
    static let ended = changed.filter { $0 != .createdAt && $0 != .acceptedAt && $0 != .lane }

    static let insertion = insertion(of: inserted, into: "requests")
    /// Then the rise of the revision, the time and new leaves.
    static let change =
        update(
            of: changed,
            in: "requests",
            keyCount: 1,
            also: ["revision = revision + ?", "updated_at = ?", "leaves = leaves || ?"]
        ) + " AND ended_at IS NULL"
    /// Then the time, new leaves, the end's time, detail and sequence, and the scope.
    static let end =
        update(
            of: ended,
            in: "requests",
            keyCount: 1,
            also: [
                "updated_at = ?", "leaves = leaves || ?", "ended_at = ?", "end_detail = ?",
                "end_sequence = ?", "scope = ?", "revision = revision + 1", "user_id = NULL",
                "slot = id",
            ]
        ) + " AND ended_at IS NULL"
}

struct AcceptedRequest {
    let loaded: LoadedRequest
    let submission: Submission
    let generation: Int
    /// The places of its leaves in the ledger.
    let leaves: String

    fileprivate var caller: (uid: UInt32, role: String)? {
        guard case .control(let uid, let role) = submission.origin else { return nil }
        return (uid, role)
    }
}

extension Request {
    /// `new` has the columns that never change.
    func value(_ column: RequestColumn, _ new: AcceptedRequest? = nil) -> SQLValue {
        switch column {
        case .id: .id(id)
        case .kind: .text(kind.rawValue)
        case .userID: .text(new?.loaded.user.exposeText())
        case .userHash: .blob(new?.loaded.userHash)
        case .slot: kind == .deleteAccount && !phase.isEnded ? .blob([]) : .id(id)
        case .generation: .int(new?.generation)
        case .graceS: new?.submission.options.graceSeconds.map { .int($0) } ?? .null
        case .providers: .text(new?.submission.options.providers?.columnText)
        case .reason: .text(new?.submission.options.reason)
        case .accountCreatedAt: .time(new?.submission.options.accountCreatedAt)
        case .origin: .text(new?.caller == nil ? "spool" : "control")
        case .originUID: .uid(new?.caller?.uid)
        case .originRole: .text(new?.caller?.role)
        case .operatorUID: .uid(submittedBy)
        case .isAnonymous: .bool(isAnonymous)
        case .createdAt: .time(createdAt)
        case .acceptedAt, .updatedAt: .time(acceptedAt)
        case .notBefore: .time(notBefore)
        case .deadlineAt: .time(deadlineAt)
        case .phase: .text(phase.columnText)
        case .parkReason: .text(phase.parkReason?.rawValue)
        case .parkUntil:
            if case .parked(_, _, let until) = phase { .time(until) } else { .null }
        case .dueAt: .time(phase.isEnded ? nil : dueAt)
        case .lane: .text(lane?.rawValue ?? "")
        case .lookup: .text(lookup?.columnText)
        case .openRevocations: .int(openRevocationCount)
        case .purgeStartedAt: .time(purgeStartedAt)
        case .crashCount: .int(crashCount)
        case .isHeld: .bool(isHeld)
        case .isWithoutIdentities: .bool(isWithoutIdentities)
        case .unreadSources: .text(unreadSources.isEmpty ? nil : unreadSources.columnText)
        case .isActive: .bool(!phase.isEnded && isBusy)
        case .spoolRows: .int(new?.caller == nil ? 1 : 0)
        case .leaves: .text(new?.leaves)
        // Statements of their own write these.
        case .revision, .endedAt, .endDetail, .endSequence, .hasOwnHold, .approval, .rechecks:
            .null
        }
    }
}

extension Phase {
    /// The column `phase`; a parked request keeps its stage there.
    fileprivate var columnText: String {
        switch self {
        case .open(let stage), .parked(let stage, _, _): stage.rawValue
        case .completed: "completed"
        case .cancelled: "cancelled"
        }
    }
}

extension Set<String> {
    fileprivate var columnText: String { ColumnText.encode(sorted().map { .string($0) }) }
}

extension Set<ProviderName> {
    var columnText: String { Set<String>(map(\.rawValue)).columnText }

    init(columnText: String) throws {
        self.init(try ColumnText(columnText, "providers").texts().map { ProviderName($0) })
    }
}

extension LookupWork {
    var columnText: String {
        ColumnText.encode([
            .string(directory.rawValue), .bool(isDone), .int(attempts), .int(failures),
            .time(retryAt), .text(lastFailure), .int(outages),
        ])
    }

    init(columnText: String) throws {
        let values = try ColumnText(columnText, "lookup")
        self.init(directory: ProviderName(try values.text(0)))
        isDone = try values.bool(1)
        attempts = try values.int(2)
        failures = try values.int(3)
        retryAt = try values.optional(4, values.time)
        lastFailure = try values.optional(5, values.text)
        outages = try values.int(6)
    }
}

/// A plan and its approval as JSON: names of the configuration and counts, never personal data.
enum ApprovalText {
    /// - Throws: `EncodingError`, never for a value of ours.
    static func encode(_ approval: Approval) throws -> String {
        try TypedJSON.text(approval)
    }

    static func decode(_ text: String?) throws -> Approval? {
        guard let text else { return nil }
        do {
            return try TypedJSON.value(Approval.self, from: text.utf8)
        } catch {
            throw StorageError.malformed("approval")
        }
    }
}
